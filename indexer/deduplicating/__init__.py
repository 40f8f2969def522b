"""Deduplicated datasets."""
