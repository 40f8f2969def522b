-- format 3: parts of documents are rows, with the range of characters they cover in the text of their document

CREATE INDEX documents_by_parent ON documents (parent) WHERE parent IS NOT NULL;
