"""Features to sketches: one algorithm a file; the numpy definition is the specification."""
