"""`softbleu networks`: a command a file; each does its work by one call to the library."""
