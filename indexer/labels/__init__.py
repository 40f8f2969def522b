"""Labels: what they are called, who has them, how they are given, undone and found to disagree."""
