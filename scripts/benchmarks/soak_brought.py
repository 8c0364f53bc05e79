"""What a soak has a store take in from elsewhere: notes, an agent's history, another memory's file, a strand."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.soak_api import Api, Refused
from benchmarks.soak_daemon import Home, Zygote
from benchmarks.soak_judge import settled
from benchmarks.soak_load import words
from benchmarks.soak_parts import Closing

PASSPHRASE = "what a soak locks its strands with"
_OTHERS = 30
_FIRST_OTHER = 9_000_000
"""Where the numbers of another store's tokens begin, so that no store of the run has the same."""


def notes(place: Path, tokens: Sequence[str], rng: random.Random) -> dict[str, Any]:
    """Write a folder of notes; return what `ingestNotes` is given."""
    place.mkdir()
    for number, token in enumerate(tokens):
        head = "# Notes\n\n" if number % 2 else "# Rules\n\n- Always "
        (place / f"note{number}.md").write_text(f"{head}{token} {words(rng, 9)}.\n", "utf-8")
    return {"paths": [str(place)], "scope": "global"}


def transcript(place: Path, tokens: Sequence[str], rng: random.Random) -> dict[str, Any]:
    """Write a history as Claude Code keeps it; return what `ingestTranscript` is given."""
    session, lines = f"soak{rng.getrandbits(40)}", []
    for number, token in enumerate(tokens):
        role, text = ("assistant", "user")[number % 2 == 0], f"{token} {words(rng, 9)}"
        content = text if role == "user" else [{"type": "text", "text": text}]
        at = f"2026-01-01T00:{number // 60:02}:{number % 60:02}.000Z"
        said = {"type": role, "sessionId": session, "cwd": str(place.parent), "timestamp": at, "uuid": f"u{number}"}
        lines.append(json.dumps({**said, "message": {"role": role, "content": content}}))
    path = place.with_suffix(".jsonl")
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return {"path": str(path), "scope": "global"}


def memories(place: Path, tokens: Sequence[str], rng: random.Random) -> dict[str, Any]:
    """Write memories as mem0 gives them out; return what `importMemories` is given."""
    told = [{"id": token, "memory": f"{token} {words(rng, 9)}", "user_id": "soak"} for token in tokens]
    path = place.with_suffix(".json")
    path.write_text(json.dumps({"results": told}), "utf-8")
    return {"path": str(path), "scope": "global"}


@dataclass(frozen=True, slots=True)
class Other:
    """A strand of another store: its file, the key that signed it, the tokens of its memories and of its episodes."""

    path: Path
    public: str
    memories: tuple[str, ...]
    episodes: tuple[str, ...]


def other(folder: Path, zygote: Zygote) -> Other:
    """Make another store and a strand of it. Every daemon of the run is killed at the end."""
    home, rng = Home(folder / "other", zygote), random.Random(0)
    path = folder / "other.strand"
    tokens = [f"soak{_FIRST_OTHER + number}q" for number in range(2 * _OTHERS)]
    with Closing(home.start(), home) as api:
        public = api.call("newKey", name="other")["public"]
        for one in tokens[:_OTHERS]:
            api.call("store", trigger=f"{one} {words(rng, 6)}", resolution=words(rng, 5), kind="FACT")
        for one in tokens[_OTHERS:]:
            api.call("recordEpisode", content=f"{one} {words(rng, 12)}", role="user", session="other")
        finished(api, "exportStrand", path=str(path), passphrase=PASSPHRASE)
    home.kill()
    return Other(path, public, tuple(tokens[:_OTHERS]), tuple(tokens[_OTHERS:]))


def finished(api: Api, field: str, **given: Any) -> dict[str, Any]:
    """Do a job from its beginning to its end; return its result. Raises Refused where it failed."""
    job = api.call(field, **given)["id"]
    settled(api)
    done = api.client.execute("query J($id: ID!) { job(id: $id) { state error errorCode result } }", {"id": job})["job"]
    if done["state"] != "DONE":
        raise Refused(done["errorCode"], f"{field}: {done['error']}")
    result: dict[str, Any] = done["result"]
    return result
