"""Exports for other programs, and the report for people who were not there."""
