"""Candidate joins over a whole collection, in bounded memory."""
