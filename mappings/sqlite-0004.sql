-- format 4, half the size: `source`, `raw` and `exact` are 32 bytes where they are a SHA-256; `bands` is empty where the keys are those of the row's
-- slots, and a blank where a row has slots and no keys; `family` is empty for the document's own id. Rows written before keep their text, which is
-- read as it was.

ALTER TABLE documents ADD COLUMN in_family TEXT AS (CASE family WHEN '' THEN id ELSE family END);
DROP INDEX documents_by_family;
CREATE INDEX documents_by_family ON documents (family) WHERE family <> '';
