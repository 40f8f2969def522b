"""Clauses of contracts: where they begin, what they state, and which ones are duplicates."""
