-- format 6: the files in a document besides its text

ALTER TABLE documents ADD COLUMN embedded TEXT NOT NULL DEFAULT '';
