"""`softbleu corpora`: a command per file; each does its work by one call to the library."""
