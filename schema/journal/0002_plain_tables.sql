-- The words that recall searches are held in memory: of the text index only the tokens are needed, one row a passage,
-- joined by blanks.
CREATE TABLE token (
    number INTEGER PRIMARY KEY,
    tokens TEXT NOT NULL
);
INSERT INTO token SELECT id, c0 FROM lexical_content;
DROP TABLE lexical_terms;
DROP TABLE lexical;

-- Rows of this length are kept two to a page in a table of rowids; without them each one took a page of its own.
CREATE TABLE vector_by_row (
    space INTEGER NOT NULL REFERENCES space (id),
    number INTEGER NOT NULL,
    vector BLOB NOT NULL,
    UNIQUE (space, number)
);
INSERT INTO vector_by_row SELECT space, number, vector FROM vector;
DROP TABLE vector;
ALTER TABLE vector_by_row RENAME TO vector;
