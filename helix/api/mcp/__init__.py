"""MCP: what agents of any client may ask, as tools, resources and prompts of the Model Context Protocol."""
