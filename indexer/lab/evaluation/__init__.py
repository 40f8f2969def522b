"""Evaluation against gold sets: assessors' sheets, their agreement, precision and recall."""
