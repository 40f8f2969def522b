"""Choose the recipe, threshold and weight for a collection by judged pairs."""
