"""Choose the recipe, threshold and planned recall for a collection by judged pairs."""
