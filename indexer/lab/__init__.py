"""Measuring and choosing: gold sets, assessors, tuning, signature studies, synthetic corpora."""
