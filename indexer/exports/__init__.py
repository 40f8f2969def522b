"""Exports for other programs, and the report for people."""
