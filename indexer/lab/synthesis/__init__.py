"""Synthetic corpora with known ground truth, made from any folder of real text."""
