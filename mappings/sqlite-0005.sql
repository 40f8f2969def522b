-- format 5: the keys of rows are numbers in sorted runs (indexer/stores/sqlite/keys.py), and no longer words of a full-text index

CREATE TABLE key_runs (
    run INTEGER PRIMARY KEY,
    entries INTEGER NOT NULL,
    directory BLOB NOT NULL         -- of each page: its first entry (8 bytes) and how many it has (2)
);

CREATE TABLE key_pages (
    page INTEGER PRIMARY KEY,       -- run << 32 | its place in the run
    entries BLOB NOT NULL           -- 8 bytes each, or 6 where the keys of the page differ by less than 65,536
);

-- the number of the last row whose keys were moved, as long as rows before it remain to be moved
INSERT INTO store SELECT 'keys_moved', '0' WHERE EXISTS (SELECT 1 FROM documents);
DROP TABLE postings;
