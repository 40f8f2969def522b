"""Duplicate types of clauses, the sets that they make of a result set, and what two clauses oblige to."""
