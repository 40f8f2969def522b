"""Measuring nearfold: evaluation, tuning, the signature study and synthetic corpora."""
