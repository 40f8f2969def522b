"""Statistics of judgements and samples: kappa, intervals, precision and recall, strata."""
