"""The commands of the command line, a module for those that belong together; `indexer.cli` knows where each is."""
