"""A graph of LangGraph that remembers: it recalls before it answers, and stores what it answered.

OPENAI_API_KEY=... python langgraph_memory.py "which database does the shop use?"
"""

import asyncio
import sys
from typing import TypedDict

from langgraph.graph import END, START, StateGraph
from openai import AsyncOpenAI

import helix


class State(TypedDict, total=False):
    question: str
    known: list[str]
    answer: str


async def main(question: str) -> None:
    async with await helix.connect_async() as memory:
        model = AsyncOpenAI()

        async def recall(state: State) -> State:
            found = await memory.recall(state["question"], limit=5)
            return {"known": [item.text for item in found.items]}

        async def answer(state: State) -> State:
            known = "\n".join(f"- {line}" for line in state["known"]) or "- nothing yet"
            reply = await model.chat.completions.create(
                model="gpt-5",
                messages=[
                    {"role": "system", "content": f"Answer in a sentence. What you remember:\n{known}"},
                    {"role": "user", "content": state["question"]},
                ],
            )
            return {"answer": reply.choices[0].message.content or ""}

        async def remember(state: State) -> State:
            await memory.store(state["question"], state["answer"], "fact", agent="langgraph", trust="agent_inferred")
            return {}

        graph = StateGraph(State)
        graph.add_node("recall", recall)
        graph.add_node("respond", answer)
        graph.add_node("remember", remember)
        for source, target in ((START, "recall"), ("recall", "respond"), ("respond", "remember"), ("remember", END)):
            graph.add_edge(source, target)
        print((await graph.compile().ainvoke({"question": question}))["answer"])


if __name__ == "__main__":
    asyncio.run(main(" ".join(sys.argv[1:])))
