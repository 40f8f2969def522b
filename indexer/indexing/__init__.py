"""Indexing, stage by stage: blobs in, rows with families and parts out, and into the store."""
