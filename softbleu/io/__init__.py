"""Files, URLs, caches and workers: all that reads, writes and hands out."""
