"""Edits of corrected text: how they are found."""
