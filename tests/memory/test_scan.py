"""A scan finds secrets that were stored when the rules were weaker, and takes them out of every file."""

from __future__ import annotations

import json
import sqlite3
import zlib
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from working import copied, job

from helix.memory.change.compose import ReadText
from helix.memory.erasure import unfinished
from helix.memory.erasure.scan import Sweep, scan
from helix.memory.erasure.stored_secrets import (
    Remembering,
    clearing,
    pieces_without,
    secrets_in,
    texts_of,
    without_secrets,
)
from helix.model.clock import to_micros
from helix.model.edge import Label, Ref, Relation
from helix.model.entity import Entity, EntityKind
from helix.model.episode import Episode, Session
from helix.model.erasure_report import ScanReport
from helix.model.memory import Kind, Memory
from helix.model.operations import Change, Operation, PutEdge, PutNode, PutPassage
from helix.model.provenance import Provenance
from helix.model.records import put_record
from helix.operations import upkeep
from helix.providers.fakes import HashEmbedder
from helix.service import Helix
from helix.settings import Settings
from helix.store import erasing
from helix.store.backup import back_up, restore_closed
from helix.store.jobs import Ticket
from helix.store.store import Store
from helix.store.writer import Decision
from helix.text.cleaning import slug
from helix.text.secrets.redact import redact, redact_value
from tests.sampling import some
from tests.waiting import finished

SECRET = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
OTHER = "AKIA" + "IOSFODNN7EXAMPLF"


@pytest.fixture
def store(lone_store: Store) -> Store:
    return lone_store


def scanned(store: Store, *, apply: bool = False) -> ScanReport:
    return job(store, lambda ticket: scan(store, ticket, apply=apply))


def write(store: Store, *operations: Operation) -> None:
    store.writer.submit(lambda: Decision((Change(kind="test", operations=operations),), None))


def ref(label: Label, node_id: str) -> Ref:
    return Ref(label=label, id=node_id)


def passages(store: Store, owner: Ref, text: str, first: int) -> list[Operation]:
    pieces = ReadText.of(text).pieces
    return [
        PutPassage(id=f"{owner.id}#{place}", number=first + place, owner=owner, text=piece, vector=vector)
        for place, (piece, vector) in enumerate(zip(pieces, store.embed(pieces), strict=True))
    ]


def as_of_old(store: Store) -> None:
    """Store things as if no rule had known these secrets: in a text, a name, a source, an attribute and labels."""
    now = store.runtime.clock()
    trigger = f"deploy with {SECRET} on mondays"
    memory = Memory(
        id="m1",
        name=slug(trigger, 60),
        kind=Kind.FACT,
        trigger=trigger,
        resolution="it works",
        recorded_at=now,
        source=f"notes:{OTHER}",
        attributes={"list": [{"token": SECRET}], "plain": "kept"},
        provenance=Provenance(slice=f"notes:{OTHER}", agent="ann"),
    )
    clear = Memory(id="m2", name="clear", kind=Kind.FACT, trigger="nothing to see", resolution="", recorded_at=now)
    label = f"run {OTHER}"
    episode = Episode(id="e1", content="said in passing", recorded_at=now, occurred_at=now, session=label, agent="bob")
    of_m1, of_m2, of_e1 = ref(Label.MEMORY, "m1"), ref(Label.MEMORY, "m2"), ref(Label.EPISODE, "e1")
    plain: dict[str, Any] = {"created_at": 1}
    write(
        store,
        *(put_record(node) for node in (memory, clear, episode, Session(id=label, started_at=now))),
        put_record(Entity(id="x1", kind=EntityKind.CONCEPT, name=SECRET)),
        PutEdge(type=Relation.MENTIONS, source=of_m1, target=ref(Label.ENTITY, "x1"), props=plain),
        PutEdge(type=Relation.IN_SESSION, source=of_e1, target=ref(Label.SESSION, label), props=plain),
        PutEdge(type=Relation.GROUNDED_IN, source=of_m2, target=of_e1, props={**plain, "slice": f"notes:{OTHER}"}),
        *passages(store, of_m1, f"{trigger}\nit works", 1),
        *passages(store, of_m2, "nothing to see", 10),
        *passages(store, of_e1, "bob: said in passing", 20),
    )
    write(store, PutNode(label=Label.MEMORY, id="m2", props={"resolution": f"once it was {SECRET}"}))
    write(store, PutNode(label=Label.MEMORY, id="m2", props={"resolution": ""}))


def found_in(folder: Path) -> list[str]:
    """Return the files that spell one of the secrets, in whatever case, also in packed rows of a log."""
    found = []
    with copied(folder) as files:
        for file in files:
            held = file.read_bytes()
            if held.startswith(b"SQLite format 3"):
                with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as connection:
                    rows = connection.execute("SELECT payload FROM log WHERE payload IS NOT NULL").fetchall()
                    held += b"".join(zlib.decompress(payload) for (payload,) in rows)
            found += [file.name for secret in (SECRET, OTHER, SECRET[4:]) if secret.lower().encode() in held.lower()]
    return found


def test_a_dry_run_names_what_it_found_without_spelling_it(store: Store) -> None:
    as_of_old(store)
    seq = store.journal.last_seq
    report = scanned(store)
    assert report.erasure is None
    assert store.journal.last_seq == seq
    places = {(found.ref.id, found.place) for found in report.found}
    assert places >= {
        ("m1", "trigger"),
        ("m1", "source"),
        ("m1", "attributes"),
        ("x1", "name"),
        ("e1", "session"),
        (f"run {OTHER}", "id"),
        ("m2", "edge"),
    }
    assert not [found for found in report.found if SECRET in found.excerpt or OTHER in found.excerpt]
    trigger = next(found for found in report.found if found.place == "trigger")
    assert (trigger.kind, trigger.excerpt) == ("github-token", "deploy with [REDACTED:github-token] on mondays")


def test_what_only_the_log_still_says_is_found(store: Store) -> None:
    write(
        store,
        put_record(
            Memory(id="m", name="m", kind=Kind.FACT, trigger=SECRET, resolution="", recorded_at=store.runtime.clock())
        ),
    )
    write(store, PutNode(label=Label.MEMORY, id="m", props={"trigger": "harmless now"}))
    report = scanned(store, apply=True)
    assert [(found.ref.id, found.place) for found in report.found] == [("m", "log")]
    assert found_in(store.path) == []
    assert store.index.memories_named("m")[0].trigger == "harmless now"


@pytest.mark.file
def test_secrets_are_in_no_file_any_more_and_all_else_stays(store: Store, tmp_path: Path) -> None:
    as_of_old(store)
    job(store, lambda ticket: back_up(store, tmp_path / "copy.db", ticket))
    assert set(found_in(tmp_path)) >= {"journal.db", "copy.db"}

    report = scanned(store, apply=True)

    assert report.erasure is not None
    assert report.erasure.complete, report.erasure
    assert found_in(tmp_path) == []
    assert store.journal.verify_chain().damaged == ()
    memory = store.records.node(ref(Label.MEMORY, "m1"))
    assert isinstance(memory, Memory)
    assert memory.trigger == "deploy with [REDACTED:github-token] on mondays"
    assert memory.attributes == {"list": [{"token": "[REDACTED:github-token]"}], "plain": "kept"}
    assert memory.name == f"{slug(memory.trigger)}-{memory.id[-6:]}"
    assert memory.resolution == "it works"
    (passage,) = [p for number in range(40) if (p := store.records.passage(number)) and p.owner.id == "m1"]
    assert passage.text == f"{memory.trigger}\nit works"
    assert store.journal.spaces.count_missing_active() == 0
    sessions = [op.target.id for op in store.records.edges_of(Relation.IN_SESSION, 9)]
    assert sessions == [redact(f"run {OTHER}").text]
    assert store.records.counts() == {"Memory": 2, "Episode": 1, "Session": 1, "edges": 2, "passages": 3}
    assert scanned(store).found == ()


@pytest.mark.soak
def test_doing_it_again_changes_nothing(store: Store) -> None:
    as_of_old(store)
    scanned(store, apply=True)
    seq = store.journal.last_seq
    assert scanned(store, apply=True).found == ()
    assert store.journal.last_seq == seq


@pytest.mark.file
def test_a_copy_that_was_out_of_reach_is_looked_through_the_next_time(store: Store, tmp_path: Path) -> None:
    as_of_old(store)
    copy, aside = tmp_path / "copy.db", tmp_path / "aside.db"
    job(store, lambda ticket: back_up(store, copy, ticket))
    copy.rename(aside)
    first = scanned(store, apply=True).erasure
    assert first is not None
    assert [one.erased for one in first.copies] == [False]

    aside.rename(copy)
    again = scanned(store, apply=True)

    assert again.found == ()
    assert again.erasure is not None
    assert [one.erased for one in again.erasure.copies] == [True]
    assert found_in(tmp_path) == []


def test_one_that_was_cut_short_is_finished_at_the_next_start(settings: Settings) -> None:
    store = Store(settings, embedder=HashEmbedder())
    as_of_old(store)
    sweep = Sweep(store.journal)
    sweep.run()
    erasing.begin_erasure(
        store, erasing.ErasureNote(kind=erasing.REDACT, refs=tuple(sweep.refs), at=to_micros(store.runtime.clock()))
    )
    store.close()
    again = Store(settings, embedder=HashEmbedder())
    assert unfinished.finish(again)
    again.close()
    assert found_in(settings.store_path) == []


@pytest.mark.file
def test_a_backup_that_was_moved_brings_no_secret_back(helix: Helix, tmp_path: Path) -> None:
    store, moved = helix.store, tmp_path / "moved.db"
    as_of_old(store)
    job(store, lambda ticket: back_up(store, tmp_path / "copy.db", ticket))
    (tmp_path / "copy.db").rename(moved)
    scanned(store, apply=True)
    held = moved.read_bytes()

    finished(helix, upkeep.restore_backup(helix, str(moved)))
    moved.unlink()
    assert found_in(tmp_path) == []
    assert store.records.counts()["Memory"] == 2
    assert scanned(store).found == ()

    moved.write_bytes(held)
    helix.close()
    restore_closed(store.path, moved, store.runtime.clock())
    moved.unlink()
    again = Store(store.runtime.settings, embedder=HashEmbedder())
    assert unfinished.finish(again)
    again.close()
    assert found_in(tmp_path) == []


@pytest.mark.soak
@pytest.mark.file
@pytest.mark.parametrize("kind", some([erasing.ERASE, erasing.REDACT], 1))
def test_nor_where_another_erasure_was_cut_short_before_it_is_restored(
    settings: Settings, tmp_path: Path, kind: str
) -> None:
    moved = tmp_path / "moved.db"
    with closing(Store(settings, embedder=HashEmbedder())) as store:
        as_of_old(store)
        job(store, lambda ticket: back_up(store, tmp_path / "copy.db", ticket))
        (tmp_path / "copy.db").rename(moved)
        scanned(store, apply=True)
        other = Ref.memory("00000000-0000-7000-8000-000000000001")
        erasing.begin_erasure(store, erasing.ErasureNote(kind=kind, refs=(other,), at=1))
    restore_closed(settings.store_path, moved, store.runtime.clock())
    moved.unlink()
    with closing(Store(settings, embedder=HashEmbedder())) as store:
        assert unfinished.finish(store)
        assert not unfinished.finish(store)
    assert found_in(tmp_path) == []


def test_a_cancelled_scan_changes_nothing(store: Store) -> None:
    as_of_old(store)
    seq = store.journal.last_seq

    def cancelled(ticket: Ticket) -> ScanReport:
        ticket.stop()
        return scan(store, ticket, apply=True)

    assert job(store, cancelled).erasure is None
    assert store.journal.last_seq == seq


def test_a_secret_that_a_cut_went_through_is_found_in_no_piece() -> None:
    filler = "word " * 316
    text = f"{filler}{SECRET} {filler}"
    pieces = ReadText.of(text).pieces
    assert len(pieces) > 1
    cleared = pieces_without((text,), (redact(text).text,), pieces, Remembering())
    assert cleared == ReadText.of(redact(text).text).pieces
    halves = (text[: 5 * 316 + 12], text[5 * 316 :])
    left = pieces_without((text,), (redact(text).text,), halves, Remembering())
    assert not [piece for piece in left if SECRET in piece]


@given(st.text(max_size=40), st.dictionaries(st.text(max_size=8), st.text(max_size=12), max_size=3))
def test_records_without_secrets_are_left_as_they_are(text: str, attributes: dict[str, str]) -> None:
    props = {"trigger": text, "name": "n", "kind": "fact", "attributes": json.dumps(attributes)}
    told = (redact_value(name, value) for name, value in attributes.items())
    clear = not any(each.findings for each in (*map(redact, (text, *attributes)), *told))
    assert (without_secrets(Label.MEMORY, "m", props, Remembering()) == {}) or not clear
    changed = {**props, **without_secrets(Label.MEMORY, "m", props, Remembering())}
    assert without_secrets(Label.MEMORY, "m", changed, Remembering()) == {}


def test_clearing_what_is_clear_writes_nothing(store: Store) -> None:
    as_of_old(store)
    assert clearing(store.journal, [ref(Label.EPISODE, "none"), ref(Label.ENTITY, "y")], Remembering(), 99) == []


@pytest.mark.parametrize(("name", "is_secret"), [("helix:key", False), ("api_key", True)])
def test_a_digest_under_a_name_of_helix_itself_is_no_secret(name: str, is_secret: bool) -> None:
    redact, attributes = Remembering(), json.dumps({name: "44dd1230edf83b0769b6af92"})
    found = [one for said in texts_of({"attributes": attributes}) for one in secrets_in(said, redact)]
    assert bool(found) == is_secret
    assert bool(without_secrets(None, "", {"attributes": attributes}, redact)) == is_secret
