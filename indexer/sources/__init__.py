"""Where documents come from: one kind of source a file."""
