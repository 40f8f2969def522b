"""Blob to document: one extractor a file."""
