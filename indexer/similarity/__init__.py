"""Similarity of two texts: measures, alignment, duplicate types of clauses."""
