"""Metrics of edits, and the edits that make one text of another."""
