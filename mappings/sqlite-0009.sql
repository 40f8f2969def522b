-- format 9: the program that recognised the characters of a scan, and the scans

CREATE INDEX documents_by_ocr ON documents (ocr) WHERE ocr <> '';
