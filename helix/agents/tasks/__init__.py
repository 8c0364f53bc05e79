"""Tasks: plans, tasks and workspaces as nodes of the graph, and what their order allows."""
