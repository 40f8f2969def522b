-- nearfold's SQLite file, format 1.
-- `fulltext` and `postings` store no content (content=''): to delete from them, the program passes the old values, which it reads from
-- `documents` and `texts`.

CREATE TABLE store (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE documents (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    recipe TEXT NOT NULL,
    status TEXT NOT NULL,
    title TEXT NOT NULL,
    path TEXT NOT NULL,
    content_type TEXT NOT NULL,
    modified INTEGER,              -- milliseconds since 1970 UTC
    size INTEGER NOT NULL,
    source TEXT NOT NULL,
    extractor TEXT NOT NULL,
    raw TEXT NOT NULL,
    exact TEXT NOT NULL,
    words INTEGER NOT NULL,
    chars INTEGER NOT NULL,
    family TEXT NOT NULL,
    labels TEXT NOT NULL,          -- JSON array
    metadata TEXT NOT NULL,        -- JSON object
    bands TEXT NOT NULL,           -- separated by one space
    blocks TEXT NOT NULL,
    minhash BLOB,                  -- big-endian 32-bit words
    simhash INTEGER,               -- the signed number with the same bits
    provisional INTEGER NOT NULL,
    principal INTEGER,
    similarity REAL,
    cluster TEXT,
    parent TEXT
);

CREATE INDEX documents_by_path ON documents (path);
CREATE INDEX documents_by_family ON documents (family);

-- a table of its own, so that scans of sketches and digests do not read the texts
CREATE TABLE texts (
    number INTEGER PRIMARY KEY,
    text TEXT NOT NULL
);

-- full text; the program inserts spaces between the letters of scripts that are written without them
CREATE VIRTUAL TABLE fulltext USING fts5(
    title, text, content='', tokenize="unicode61 remove_diacritics 2 categories 'L* N* Co M*'"
);
INSERT INTO fulltext (fulltext, rank) VALUES ('automerge', 8);
INSERT INTO fulltext (fulltext, rank) VALUES ('hashsize', 16777216);

-- documents by key; FTS5 appends segments and merges them later, which inserts random keys faster than a B-tree
CREATE VIRTUAL TABLE postings USING fts5(
    carried, content='', detail=none, columnsize=0, tokenize='ascii'
);
INSERT INTO postings (postings, rank) VALUES ('automerge', 8);
