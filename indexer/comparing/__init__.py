"""Comparison of two documents side by side, and of the versions of one document."""
