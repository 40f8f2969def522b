"""Text to features: pure functions, no I/O, no clock, no environment."""
