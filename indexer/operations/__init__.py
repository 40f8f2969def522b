"""The commands that keep a store in service: status, doctor, backup, reindex, install."""
