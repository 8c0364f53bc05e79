-- What the graph refuses is noted in the graph: it is that graph's alone, and goes with it.
DROP TABLE poison;
