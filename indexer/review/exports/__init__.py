"""Files for other programs and for people: tables, load files, batches, archives, reports."""
