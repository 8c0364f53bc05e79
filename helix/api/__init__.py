"""The network face of Helix: GraphQL over HTTP and WebSocket, the explorer, health and metrics."""
