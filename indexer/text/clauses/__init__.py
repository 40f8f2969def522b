"""Clauses and sections of a text: where they begin, and the terms in which clauses are compared."""
