"""How good it is: gold sets, assessors' sheets, their agreement, and what a recipe finds of the
truth at a threshold.
"""
