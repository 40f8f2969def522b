"""Sources of documents: files, containers, tables and load files, and the text in them."""
