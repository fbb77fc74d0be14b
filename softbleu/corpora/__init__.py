"""Corpora: segments, and the files they are read from."""

from __future__ import annotations

from softbleu.corpora.corpus import ParallelFiles as ParallelFiles
from softbleu.corpora.corpus import Segments as Segments
from softbleu.corpora.edits import read_m2 as read_m2
from softbleu.corpora.edits import write_m2 as write_m2
from softbleu.corpora.files import name_files as name_files
from softbleu.corpora.files import name_systems as name_systems
from softbleu.corpora.files import read_words as read_words
from softbleu.corpora.files import split_file as split_file
from softbleu.corpora.records import read_segments as read_segments
