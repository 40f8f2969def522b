"""Comparison of two texts: measures, words in order, facts that differ, criteria and clauses."""
