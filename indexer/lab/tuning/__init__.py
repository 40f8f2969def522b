"""Which recipe, threshold and weight serve a collection best, found out by pairs whose truth is
known.
"""
