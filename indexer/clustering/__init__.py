"""Families and clusters as pure functions of pairs."""
