"""nearfold: near-duplicate documents, found and folded inside search results."""
