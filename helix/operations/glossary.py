"""Glossary: what the names that mean the same everywhere mean, said once for the API, the commands and the reference.

What a name means in one record or operation alone is said there, by `Annotated`.
"""

from __future__ import annotations

import typing
from collections.abc import Mapping
from typing import Annotated, Any

from helix.model.ids import Id

_ID = typing.get_args(Id)[1]

GLOSSARY: Mapping[str, str] = {
    "agent": "The agent it came from, such as a client's name.",
    "attributes": "Anything else that belongs to it.",
    "confidence": "How sure it is to be true, 0 to 1.",
    "content": "The text, word for word but for secrets.",
    "id": "Its id.",
    "idempotency_key": "Up to 200 printable characters, new for each request. Sent again with the same key, a request "
    "counts once and gets the first answer. A key is known for 30 days.",
    "importance": "How important it is, 1 to 10.",
    "last_used_at": "When it was last used and verified.",
    "name": "Its name.",
    "objective": "What is to be reached.",
    "occurred_at": "When it happened; now where it is not said.",
    "provenance": "Where it came from.",
    "recorded_at": "When the store learned of it (transaction time).",
    "retired_at": "When a newer version took its place.",
    "role": "Who spoke: user, assistant, tool, or a word of the source.",
    "scope": "The project it belongs to, or `global`.",
    "session": "The session it belongs to.",
    "source": "Where it came from, such as `git:<commit>`.",
    "started_at": "When it began.",
    "ended_at": "When it ended; null while it goes on.",
    "trust": "How far its source is to be trusted.",
    "valid_from": "Since when it holds in the world (valid time); always where it is not said.",
    "valid_to": "Until when it held in the world; it holds where it is not said.",
    "said_by": "Where it comes from, in a word: `you`, `verified`, `agent`, `commit`, `notes`, `tool` or `web`.",
    "kind": "Its kind: it decides how the memory ranks and how fast it fades.",
    "trigger": "When it matters.",
    "resolution": "What to know or do then.",
    "weight": "How much it counts, 1 by default.",
    "query": "The question, in plain words, code, paths or an error message.",
    "kinds": "Only memories of these kinds; by default all.",
    "labels": "Answer with nodes of these labels only.",
    "limit": "At most this many.",
    "intent": "What the question is for. It favours some kinds and hides none.",
    "expand": "How far to walk the graph from what was found first.",
    "files": "Files that the question is about. What touches them is found whatever its words.",
    "as_of": "What held in the world at this moment (valid time).",
    "known_at": "What the store knew at this moment (transaction time).",
    "asked_at": "When the question was asked: words like `yesterday` count from there. It hides nothing.",
    "since": "Nothing that happened before this moment.",
    "budget_tokens": "Pack the answer into this many tokens, whole items only; 0 for no budget.",
    "recipe": "The recipe of ranking; the setting's where it is not said.",
    "rerank": "Have a cross-encoder read the best again: better, slower; as the settings say where it is not said.",
    "deep": "Include what is archived or has faded.",
    "everything": "Include what hardly fits the question, and what says less than another item of the answer.",
    "explain": "Say for each item which arm found it and what each factor gave.",
    "score": "What it was ranked by.",
    "name_or_id": "A memory's name (its newest version) or id.",
    "time": "Whether `since`, `until`, days and an order by time go by when something was recorded, or by when it "
    "happened or began to hold.",
    "any_status": "Memories of every status.",
    "first": "The size of the page.",
    "after": "Go on after this cursor, which the page before ends with.",
    "relation": "Only edges of this type, such as SOLVES or GROUNDED_IN.",
    "memory": "The memory.",
    "similarity": "Cosine similarity, -1 to 1.",
    "unused_days": "Not used for so many days.",
    "dry_run": "Show what would change, and change nothing.",
    "path": "An absolute path on the daemon's machine.",
    "payload": "What the work is asked for with, such as {scope}.",
    "plan": "The plan's id; by default the newest plan of the scope.",
    "utilized": "The names of the memories that the agent says it used.",
    "injected": "The names of the memories in it.",
    "shown": "What is noted of each memory that is shown.",
}
"""What a name means where neither its record nor its operation says it."""


def plain(hint: Any) -> Any:
    """Return a type without its description for GraphQL; an id stays one."""
    if typing.get_origin(hint) is not Annotated:
        return hint
    base, *said = typing.get_args(hint)
    return Id if _ID in said else base


def description(owner: str, name: str, hint: Any) -> str:
    """Return the GraphQL description of a field or an argument with that type in its record or operation.

    Raises LookupError where neither the type nor the glossary says it.
    """
    said = (
        [words for words in typing.get_args(hint)[1:] if words != _ID] if typing.get_origin(hint) is Annotated else []
    )
    if said:
        return str(said[0])
    if name in GLOSSARY:
        return GLOSSARY[name]
    raise LookupError(f'nothing says what {name} means in {owner}: Annotated[..., "what it means"] does')
