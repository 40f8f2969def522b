"""Sources of documents: folders, containers, remote files, stores and Hansken, one kind a module."""
