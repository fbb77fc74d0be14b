"""Corpora: segments, and the files they are read from."""

from __future__ import annotations

from softbleu.corpora.corpus import ParallelFiles, Segments
from softbleu.corpora.edits import read_m2, write_m2
from softbleu.corpora.files import name_files, name_systems, read_words, split_file
from softbleu.corpora.records import read_segments

__all__ = [
    "ParallelFiles",
    "Segments",
    "name_files",
    "name_systems",
    "read_m2",
    "read_segments",
    "read_words",
    "split_file",
    "write_m2",
]
