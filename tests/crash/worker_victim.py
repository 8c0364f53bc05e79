"""Processes with one background job to do, which kill themselves in places of it; run by the worker's crash test.

It fills a store, copies it and asks both for the job. In one it is done in peace; in the other by one process after the
other, each of which dies in one of the places: `taken`, `before N` or `after N` (the Nth change that it journals),
`finishing`, `finished`; the last one does what is left. Writes how many died, and what both hold then, to `told.json`.
"""

from __future__ import annotations

import json
import os
import shutil
import traceback
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

from seeds import fill
from victim import die_in

from helix import settings as configuration
from helix.journal.log import Journal
from helix.journal.work_queue import Work
from helix.memory.capture.episodes import EpisodeRequest, record
from helix.memory.change.compose import Composer, ReadText, prepare
from helix.memory.job_run.foreground import Foreground, Pace
from helix.memory.job_run.parameters import PARAMETERS
from helix.memory.job_run.run import Run
from helix.memory.worker.kinds import KINDS
from helix.memory.worker.worker import MemoryWorker
from helix.model.edge import Label, Relation
from helix.model.episode import Episode
from helix.model.memory import Kind, Memory, body
from helix.model.work_item import WorkState
from helix.providers.fakes import HashEmbedder, ScriptedModel
from helix.providers.llm import Absence, ModelQuestion
from helix.store.store import Store
from helix.store.writer import Decision
from helix.text.cleaning import slug

NOW = datetime(2026, 6, 1, tzinfo=UTC)
SWIFT = Pace(quiet=0.0, patience=0.05, again=0.01, backoff=0.001, trouble=0.05)
SLOW = (
    "{place} was slow again: `make bench` took {number} seconds because the lexer reads byte by byte",
    "The profile of {place} shows most of its time in the allocation of tokens, not in reading",
    "A table of {number} states in {place} replaced the chain of conditions and halved what it takes",
    "{place} must not be inlined: the compiler reads it for {number} minutes and runs out of memory",
)
RULES = (
    "always activate the venv first, before running pytest",
    "remember: activate the venv before you run pytest",
    "activate the venv first, always, or pytest is not found",
    "we always activate the venv before pytest",
)
TALK = "the crash in src/parser.c was a buffer that nobody freed, part {number} of the story about the parser"


def steps(run: Run, payload: Mapping[str, Any]) -> Mapping[str, Any]:
    """Write an episode in each of six steps, whether it is there already or not: done twice, it would show."""
    for step in range(6):
        episode = Episode(
            id=run.store.runtime.make_id(run.now), content=f"step {step}", recorded_at=NOW, occurred_at=NOW
        )
        run.write(f"step {step}", lambda composer, episode=episode: composer.node(episode))
    return {"steps": 6}


KILLED = {"steps": steps, **KINDS}


def opened(home: Path, clock: Callable[[], datetime]) -> Store:
    settings = configuration.load({"home": home, "consolidation_budget": 0, "guard_share": 1.0}, environ={}, cwd=home)
    store = Store(settings, embedder=HashEmbedder(), clock=clock)
    store.runtime.language_model = ScriptedModel(answered)
    return store


def answered(question: ModelQuestion, text: str) -> Mapping[str, Any] | Absence:
    """Answer what only a model does; the rest is left to rules."""
    if question.task == "importance":
        return {"importance": 1}
    if question.task == "contradiction" and "attic" in text:
        pair = json.loads(text)
        return {"verdict": "contradict", "left": pair["a"], "right": pair["b"]}
    return Absence.REFUSED


def remembered(store: Store) -> None:
    """Put memories in that give every kind of job something to do, past everything that acts when one is stored."""
    day = timedelta(days=1)
    used = {"uses": 1, "helped": 1.0, "last_used_at": NOW - 80 * day}
    failing = {"uses": 4, "failed": 4.0, "last_used_at": NOW - 2 * day}
    memories = [
        *(
            _memory(Kind.FAILURE, f"the {what} of the image fails, no space left, try {n}", at=NOW - n * day)
            for what in ("build", "upload")
            for n in range(1, 4)
        ),
        *(
            _memory(Kind.GAP, f"which port does the {what} service listen on?", at=NOW - 9 * day)
            for what in ("journal", "billing")
        ),
        *(
            _memory(
                Kind.FACT, f"which port the {what} service listens on", f"the {what} service listens on port 80", at=NOW
            )
            for what in ("journal", "billing")
        ),
        *(
            _memory(Kind.FACT, f"{what} lie in the attic{end}", at=NOW - 3 * day)
            for what in ("old maps", "spare keys")
            for end in ("", "!")
        ),
        *(_memory(Kind.DECISION, f"{what} was chosen", at=NOW - 90 * day, **used) for what in ("Kuzu", "SQLite")),
        *(_memory(Kind.PATTERN, f"{what} helps", at=NOW - 90 * day, **failing) for what in ("sleeping", "hoping")),
    ]
    prepared = prepare(store, [ReadText.of(body(memory.trigger, memory.resolution)) for memory in memories])

    def decision() -> Decision[None]:
        composer = Composer(store, NOW - 90 * day)
        refs = [composer.node(memory) for memory in memories]
        for ref, ready in zip(refs, prepared, strict=True):
            composer.passages(ref, ready)
        for target in refs[1:3]:
            composer.edge(Relation.DEPENDS_ON, refs[0], target)
        return Decision((composer.change("store"),), None)

    store.writer.submit(decision)


def _memory(kind: Kind, trigger: str, resolution: str = "", *, at: datetime, **fields: Any) -> Memory:
    name = slug(trigger)
    return Memory(
        id=f"{kind}-{name}-{len(trigger)}",
        name=name,
        kind=kind,
        trigger=trigger,
        resolution=resolution,
        recorded_at=at,
        valid_from=at,
        **fields,
    )


def seed(home: Path, kind: str) -> None:
    ticks, began = count(), [NOW - timedelta(days=90)]
    store = opened(home, lambda: began[0] + timedelta(minutes=next(ticks)))
    remembered(store)
    for number in range(21):
        record(store, EpisodeRequest(content=TALK.format(number=number), session=f"old {number // 7}", agent="ada"))
    for number in range(12):
        record(store, EpisodeRequest(content=RULES[number % len(RULES)], session=f"new {number // 4}", role="user"))
    fill(store, kind)
    began[0] = NOW - timedelta(days=2)
    for number in range(18):
        scope, place = f"part {number % 3}", f"src/lexer{number % 3}.c"
        text = SLOW[number % len(SLOW)].format(place=place, number=number)
        record(store, EpisodeRequest(content=text, scope=scope, role="user", importance=8.0))
    worker = MemoryWorker(store, Foreground(), kinds=KILLED, pace=SWIFT)
    worker.start()
    assert worker.settle(30)
    worker.pause(True)
    worker.add(kind, {"scope": None} if "scope" in PARAMETERS.get(kind, {"scope"}) else {})
    worker.stop()
    (home / "seeded.json").write_text(json.dumps(held(store), sort_keys=True), "utf-8")
    store.close()


def finish(home: Path, place: str) -> None:
    store = opened(home, lambda: NOW)
    worker = MemoryWorker(store, Foreground(), kinds=KILLED, pace=SWIFT)
    where, _, nth = place.partition(" ")
    match where:
        case "taken":
            die_in(Work, "take", before=False, nth=1)
        case "before" | "after":
            die_in(Journal, "append", before=where == "before", nth=int(nth))
        case "finishing" | "finished":
            die_in(Work, "finish", before=where == "finishing", nth=1)
    worker.pause(False)
    worker.start()
    assert worker.settle(60)
    worker.stop()
    (item,) = worker.status().items
    assert item.state is WorkState.DONE, item
    (home / "held.json").write_text(json.dumps(held(store), sort_keys=True), "utf-8")
    store.close()


def held(store: Store) -> dict[str, list[str]]:
    """Return what the store holds, by content: ids are made anew in every store."""
    view = store.catalogue.view
    refs = [view.ref_of(row) for row in range(view.count)]
    nodes = dict(zip(refs, store.records.nodes(refs), strict=True))
    names = {ref: _name(node) for ref, node in nodes.items()}
    with store.journal.snapshot() as (_, state):
        edges = [
            f"{op.type} {names[op.source]} -> {names[op.target]} {op.props.get('weight', 1.0)}"
            for op in state.edges()
            if op.type is not Relation.MENTIONS and op.source in names and op.target in names
        ]
    kept = [names[ref] for ref in refs if ref.label is not Label.ENTITY]
    return {"nodes": sorted(kept), "edges": sorted(edges)}


def _name(node: Any) -> str:
    shown = ("content", "trigger", "resolution", "insight", "status", "helped", "importance")
    texts = [str(getattr(node, name, "")) for name in shown]
    consolidated = getattr(node, "consolidated_at", None) is not None
    return f"{type(node).__name__}: {' | '.join(filter(None, texts))} {'consolidated' if consolidated else ''}".strip()


def in_a_process(work: Callable[[], None]) -> bool:
    """Return whether a process of its own lived to the end of the work; no thread is running yet that it would miss."""
    if (child := os.fork()) == 0:
        status = 1
        try:
            work()
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return False
    assert os.waitstatus_to_exitcode(status) == 0
    return True


def main(home: Path, kind: str, *places: str) -> None:
    quiet, killed = home / "quiet", home / "killed"
    quiet.mkdir()
    assert in_a_process(lambda: seed(quiet, kind))
    shutil.copytree(quiet, killed)
    deaths = sum(not in_a_process(lambda place=place: finish(killed, place)) for place in places)
    for one in (quiet, killed):
        assert in_a_process(lambda one=one: finish(one, "none"))
    told = {one.name: json.loads((one / "held.json").read_text("utf-8")) for one in (quiet, killed)}
    seeded = json.loads((quiet / "seeded.json").read_text("utf-8"))
    (home / "told.json").write_text(json.dumps({"deaths": deaths, "seeded": seeded, **told}), "utf-8")
