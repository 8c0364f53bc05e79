"""Explorer: questions about the graph and how it is drawn: Cypher, neighbourhoods, paths, communities, centrality."""
