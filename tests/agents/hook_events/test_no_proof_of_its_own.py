"""What a repository says is not proved by the repository's own checks, whoever takes its words over later."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from helix.agents.context.blocks import entry
from helix.agents.outcomes.feedback import feedback
from helix.identity import folder_identity
from helix.memory.job_run.run import Run
from helix.memory.remember.curate import EditRequest
from helix.memory.remember.request import StoreRequest
from helix.memory.upkeep.merge import merge_similar
from helix.model.memory import Memory, Status
from helix.operations import ingest, memories
from helix.service import Helix
from helix.store.listing import MemoryFilter
from tests.agents.hook_events.agent_client import AgentSession
from tests.waiting import finished

RULE = "Before the release is deployed to staging at midnight, run `make check`."
ASKED = "the release is deployed to staging at midnight"
SESSIONS = 4
"""Enough for a share: each task that passes adds a half."""


@pytest.fixture
def obeyed(helix: Helix, project: Path) -> Memory:
    """A note of the repository whose command agents were told of, ran, and saw pass."""
    scope = folder_identity(project).scope
    (project / "NOTES.md").write_text(f"# Releases\n\n- {RULE}\n", "utf-8")
    job = ingest.ingest_notes(helix, [str(project / "NOTES.md")], scope=scope)
    finished(helix, job)
    helix.worker.settle()
    (memory,) = memories.memories(helix, MemoryFilter(scope=scope)).items
    for number in range(SESSIONS):
        session = AgentSession(helix, project, f"session-{number}")
        prompt = f"TASK_ID: {number}\nTASK: {ASKED}\nOBJECTIVE: {ASKED}\nVERIFY: make check"
        assert memory.name in session.agent_call(prompt)[1]["prompt"]
        session.tell("SubagentStart", "a1", "helix:builder")
        session.run("make check", agent="a1")
        session.agent_ends("a1", f"DELIVERED: done\nUTILIZED: [{memory.name}]")
        session.settled()
    return memories.get(helix, memory.id)


def test_a_command_that_a_repository_names_does_not_prove_what_it_says(obeyed: Memory) -> None:
    assert obeyed.helped == SESSIONS / 2
    assert obeyed.label == ""
    assert entry(obeyed, score=1.0, arm="recall").line.startswith("[notes] ")


def confirmed(helix: Helix, memory: Memory) -> Memory:
    return memories.confirm(helix, memory.id)


def said(helix: Helix, memory: Memory) -> Memory:
    """Have somebody here store the same."""
    stored = memories.store(
        helix, StoreRequest(trigger=memory.trigger, resolution=memory.resolution, kind=memory.kind, scope=memory.scope)
    )
    assert memories.get(helix, memory.id).status is Status.RETIRED
    return memories.get(helix, stored.id)


def folded(helix: Helix, memory: Memory) -> Memory:
    """Have it folded into what an agent says in nearly the same words."""
    other = memories.store(
        helix, StoreRequest(trigger=memory.trigger, resolution=memory.resolution, kind=memory.kind, scope="elsewhere")
    )
    other = memories.edit(helix, other.id, EditRequest(scope=memory.scope, name="the-agents"))
    merge_similar(Run(helix.store, "job", "merge_similar"), {"threshold": 0.9})
    assert memories.get(helix, memory.id).status is Status.RETIRED
    return memories.get(helix, other.id)


@pytest.mark.parametrize("take_over", [confirmed, said, folded])
def test_who_takes_the_words_over_begins_with_a_label_of_his_own(
    helix: Helix, obeyed: Memory, take_over: Callable[[Helix, Memory], Memory]
) -> None:
    taken = take_over(helix, obeyed)
    assert (taken.helped, taken.label) == (obeyed.helped, "")
    feedback(helix.store, [taken.id], 1.0)
    assert memories.get(helix, taken.id).label == "[100% of 1]"
