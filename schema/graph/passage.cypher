// The side table of one embedding space; `dimension` is that of the space. The sentinel row is never deleted: an index
// whose table was emptied answers nothing any more.
CREATE NODE TABLE Passage (id STRING PRIMARY KEY, owner STRING, owner_kind STRING, embedding FLOAT[{dimension}]);
CREATE (:Passage {id: '', owner: '', owner_kind: '', embedding: {sentinel}});
CALL CREATE_VECTOR_INDEX('Passage', 'passage_embedding', 'embedding', metric := 'cosine');
