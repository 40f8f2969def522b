"""Folding the chunks that a retriever returns to a language model."""
