-- format 8: the date of a document by what it says of itself, else of its file, and who held it; nearfold fills them for the rows of a former file

ALTER TABLE documents ADD COLUMN date INTEGER;
ALTER TABLE documents ADD COLUMN custodian TEXT NOT NULL DEFAULT '';
