"""clauses"""
