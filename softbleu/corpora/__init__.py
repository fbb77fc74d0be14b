"""Corpora: segments, and the files they are read from."""

from __future__ import annotations

from softbleu.corpora.files import read_words
from softbleu.corpora.m2 import read_m2, write_m2
from softbleu.corpora.parallel import ParallelFiles, name_files, name_systems, split_file
from softbleu.corpora.records import read_segments
from softbleu.corpora.segments import Segments

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
