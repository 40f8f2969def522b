"""Sketches of features: one algorithm per file; the numpy definition is the specification."""
