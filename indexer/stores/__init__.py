"""Stores: where rows live. One narrow seam (`base`), one adapter a file."""
