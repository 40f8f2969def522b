"""The review pages: in a real browser, and by plain requests."""
