"""The embedded store: one SQLite file with full text by FTS5."""
