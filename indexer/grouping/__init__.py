"""Families of a whole store: group, delete, label, consistency, survey."""
