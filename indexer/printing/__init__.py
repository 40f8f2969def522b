"""What the commands print: a table for people, one JSON document (or lines) for programs. Progress goes to stderr."""
