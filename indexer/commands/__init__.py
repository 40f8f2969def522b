"""Commands of the command line that have modules of their own; `indexer.cli` holds the group they belong to."""
