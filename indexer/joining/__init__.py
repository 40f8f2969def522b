"""Candidate pairs of a whole collection: by bands of slots, by prefixes of features, and what slots alone decide of them."""
