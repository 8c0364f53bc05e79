-- What a graph refuses is noted in that graph: each process has one of its own.

DROP TABLE poison;
