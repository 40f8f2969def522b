"""Near-duplicate pairs, families and clusters of a whole store, and the labels of families."""
