"""Corpora with planted truth: from any folder of real text, documents whose relations to each other
are known.
"""
