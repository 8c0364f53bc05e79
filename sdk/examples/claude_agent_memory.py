"""An agent of the Claude Agent SDK that remembers: Helix is one of its MCP servers.

ANTHROPIC_API_KEY=... python claude_agent_memory.py "which database does the shop use?"
"""

import asyncio
import sys

from claude_agent_sdk import ClaudeAgentOptions, ResultMessage, query


async def main(prompt: str) -> None:
    options = ClaudeAgentOptions(
        system_prompt="Search your memory before you answer. Write down what will matter again.",
        mcp_servers={"helix": {"command": "helix", "args": ["mcp"]}},
        allowed_tools=["mcp__helix__memory_search", "mcp__helix__memory_write"],
    )
    async for message in query(prompt=prompt, options=options):
        if isinstance(message, ResultMessage):
            print(message.result)


if __name__ == "__main__":
    asyncio.run(main(" ".join(sys.argv[1:])))
