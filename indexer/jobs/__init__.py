"""Jobs on a store or a dataset: index, check, reindex, repair, back up, deduplicate."""
