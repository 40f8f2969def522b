"""Sources of documents, one kind a module: folders, containers, remote files, stores, Hansken."""
