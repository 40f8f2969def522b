"""Full-text search with near duplicates folded, and look-ups of single documents."""
