"""An agent of the OpenAI Agents SDK that remembers: two tools ask Helix, and the model says when.

OPENAI_API_KEY=... python openai_agents_memory.py "which database does the shop use?"
"""

import asyncio
import sys

from agents import Agent, RunContextWrapper, Runner, function_tool

import helix

Memory = RunContextWrapper[helix.AsyncClient]


@function_tool
async def memory_search(context: Memory, question: str) -> str:
    """Look up what is remembered that matters for a question."""
    found = await context.context.recall(question, limit=5)
    return "\n".join(item.text for item in found.items) or "nothing is remembered of that"


@function_tool
async def memory_write(context: Memory, when: str, what: str) -> str:
    """Remember what to know or do, and when it matters. Leave out what the code says by itself."""
    stored = await context.context.store(when, what, "fact", agent="openai-agents", trust="agent_inferred")
    return f"{stored.status.value}: {stored.name}"


async def main(prompt: str) -> None:
    agent = Agent[helix.AsyncClient](
        name="assistant",
        instructions="Search your memory before you answer. Write down what will matter again.",
        tools=[memory_search, memory_write],
    )
    async with await helix.connect_async() as memory:
        print((await Runner.run(agent, prompt, context=memory)).final_output)


if __name__ == "__main__":
    asyncio.run(main(" ".join(sys.argv[1:])))
