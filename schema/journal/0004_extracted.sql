-- What consolidation found in the episodes that it read, so that none is read twice.

-- What an extractor found in an episode, by a digest of all it depends on beside the episode (`edition`): its
-- candidates, and the vectors of those that are a part of the episode. It stands beside the log: whatever is lacking
-- here is extracted again. It repeats the words of the episode: whoever erases a text has to empty it.
CREATE TABLE extracted (
    episode TEXT PRIMARY KEY,
    edition TEXT NOT NULL,
    candidates TEXT NOT NULL,
    vectors BLOB NOT NULL
);
