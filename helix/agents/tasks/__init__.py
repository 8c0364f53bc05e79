"""Tasks: plans, tasks and workspaces as nodes of the graph, and what the order of tasks allows (`dag`)."""
