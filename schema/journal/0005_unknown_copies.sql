-- Copies are known since a store has the table known_copy. One that held something before it got this migration may have
-- been copied without a note: whoever erases from it is told so.
INSERT OR REPLACE INTO meta (key, value) SELECT 'unknown_copies', '1' WHERE EXISTS (SELECT 1 FROM log);
