"""What was hard forgotten is in no file any more, and everything else is as it was."""

from __future__ import annotations

import json
import signal
import sqlite3
import zlib
from collections.abc import Collection, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from working import copied, job

from helix.errors import ConflictError, InvalidInputError, NotFoundError
from helix.journal.erase import tombstones
from helix.journal.kept_results import Answers
from helix.memory.capture.episodes import EpisodeRequest, record
from helix.memory.erasure import unfinished
from helix.memory.erasure.hard_forget import hard_forget, note, plan_hard_forget
from helix.memory.remember import curate
from helix.memory.remember.curate import EditRequest
from helix.memory.remember.links import link
from helix.memory.remember.remember import remember
from helix.memory.remember.request import StoreRequest
from helix.memory.worker.undo import undo
from helix.model.clock import to_micros
from helix.model.edge import Label, Ref, Relation
from helix.model.erasure_report import EraseReport
from helix.model.memory import Kind, Memory, Status
from helix.model.operations import Change, Operation, PutEdge, PutNode, PutPassage
from helix.model.provenance import Provenance
from helix.model.recall import RecallAnswer, RecallQuery
from helix.model.records import put_record
from helix.model.reflection import Reflection
from helix.model.reports import StoreStatus
from helix.model.tombstone import ERASED_AT, is_erased
from helix.model.usage import KeptAnswer
from helix.operations import memories
from helix.providers.fakes import HashEmbedder
from helix.recall.last import LastAnswers
from helix.service import Helix
from helix.settings import Settings
from helix.store import erasing
from helix.store.backup import back_up, restore, restore_closed
from helix.store.matrix import coded
from helix.store.store import Store
from helix.store.writer import Decision
from helix.text.about import RULED
from tests.victims import Victims

SECRET = "The quaxlotl harvester refuses beetroot on Thursdays"
ANSWER = "Feed it parsnip zymurgy from farm/zymurgy.toml instead"
WORDS = ("quaxlotl", "beetroot", "zymurgy")


def edge(kind: Relation, source: str, target: Ref) -> PutEdge:
    return PutEdge(type=kind, source=Ref.memory(source), target=target, props={"created_at": 1})


def cites(source: str, target: str) -> PutEdge:
    return PutEdge(
        type=Relation.CITES,
        source=Ref(label=Label.REFLECTION, id=source),
        target=Ref.memory(target),
        props={"created_at": 1},
    )


def write(store: Store, *operations: Operation) -> None:
    store.writer.submit(lambda: Decision((Change(kind="test", operations=operations),), None))


def grounds(store: Store, node_id: str) -> list[Ref]:
    return [op.target for op in store.records.edges_at(Ref.memory(node_id)) if op.type is Relation.GROUNDED_IN]


@pytest.fixture
def store(lone_store: Store) -> Store:
    return lone_store


@pytest.mark.file
def test_a_folder_that_was_moved_aside_from_the_graphs_place_goes_too(store: Store) -> None:
    """It kept the erasure from its end, and with that the store from being opened, for good."""
    stored = remember(store, StoreRequest(trigger=SECRET, resolution=ANSWER, kind="fact"))
    aside = store.path / "graph.kuzu.aside-1"
    (aside / "of an older Kuzu").mkdir(parents=True)
    assert forget(store, stored.name).complete
    assert not aside.exists()
    assert erasing.under_way(store.journal) is None


def forget(store: Store, name_or_id: str) -> EraseReport:
    return job(store, lambda ticket: hard_forget(store, plan_hard_forget(store, name_or_id), ticket))


def memory(store: Store, trigger: str = SECRET, resolution: str = ANSWER, **fields: object) -> str:
    return remember(store, StoreRequest(trigger=trigger, resolution=resolution, kind="fact", **fields)).id  # type: ignore[arg-type]


def episode(store: Store, content: str, **fields: object) -> str:
    kept = record(store, EpisodeRequest(content=content, **fields)).episode  # type: ignore[arg-type]
    assert kept is not None
    return kept.id


def furnish(store: Store) -> None:
    """Fill a store with things that are none of the matter, some of which share words and files with it."""
    memory(store, "Run the tests with pytest -x", "They stop at the first failure", files=["tests/conftest.py"])
    memory(store, "The harvester stands in the barn", "", files=["barn/plan.md"])
    for number in range(3):
        episode(store, f"turn {number} of a talk about pytest", session="talk", agent="ann")


def files_of(folder: Path) -> list[Path]:
    return [file for file in folder.rglob("*") if file.is_file()]


def bytes_of(file: Path) -> bytes:
    """Return what the file holds, and what its packed rows hold where it is a journal."""
    held = file.read_bytes()
    if held.startswith(b"SQLite format 3") and "-" not in file.suffix:
        with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as connection:
            for (payload,) in connection.execute("SELECT payload FROM log WHERE payload IS NOT NULL"):
                held += zlib.decompress(payload)
    return held


def traces(texts: Sequence[str] = (f"{SECRET}\n{ANSWER}",), words: Sequence[str] = WORDS) -> list[bytes]:
    """Return what must be nowhere: words, which names and tokens are made of too, and the texts' vectors and codes."""
    vectors = HashEmbedder().embed(texts)
    codes, _ = coded(vectors)
    return [*(word.encode() for word in words), *(v.tobytes() for v in vectors), *(c.tobytes() for c in codes)]


def found_in(folders: Sequence[Path], wanted: Sequence[bytes]) -> list[str]:
    found = []
    for folder in folders:
        with copied(folder) as files:
            for file in files:
                held = bytes_of(file)
                lowered = held.lower()
                found += [f"{trace[:20]!r} in {file}" for trace in wanted if trace in held or trace.lower() in lowered]
    return found


def state_of(store: Store, but: Collection[str] = ()) -> dict[str, object]:
    """Return everything the state holds, but for nodes of these ids and what hangs on them."""
    said: dict[str, object] = {}
    with closing(sqlite3.connect(store.path / "journal.db")) as connection:
        for label, node_id, props in connection.execute("SELECT label, id, props FROM node"):
            if node_id not in but:
                said[f"{label} {node_id}"] = json.loads(props)
        for *key, props in connection.execute("SELECT * FROM edge"):
            if key[2] not in but and key[4] not in but:
                said[" ".join(key)] = json.loads(props)
        for number, passage, label, owner, text, vector, tokens in connection.execute(
            "SELECT p.number, p.id, p.owner_label, p.owner, p.text, v.vector, t.tokens FROM passage p"
            " LEFT JOIN vector v ON v.number = p.number LEFT JOIN token t ON t.number = p.number"
        ):
            if owner not in but:
                said[passage] = (number, label, owner, text, vector, tokens)
    return said


def rest_of(before: dict[str, object], gone: Collection[str]) -> dict[str, object]:
    return {key: said for key, said in before.items() if not any(each in f"{key} {said}" for each in gone)}


def back_up_to(store: Store, target: Path) -> None:
    job(store, lambda ticket: back_up(store, target, ticket))


def assert_forgotten(store: Store, report: EraseReport, before: dict[str, object], *folders: Path) -> None:
    gone = {ref.id for ref in report.erased}
    assert found_in([store.path, *folders], traces()) == []
    assert state_of(store, gone) == rest_of(before, gone)
    chain = store.journal.verify_chain()
    assert chain.damaged == ()
    assert chain.erased >= report.rows > 0
    for ref in report.erased:
        if ref.label in (Label.MEMORY, Label.EPISODE):
            assert is_erased(store.records.node(ref))


@pytest.mark.file
def test_words_names_and_vectors_are_in_no_file_any_more(store: Store, tmp_path: Path) -> None:
    furnish(store)
    wanted = memory(store)
    back_up_to(store, tmp_path / "copies.db")
    before = state_of(store)
    assert {str(file) for trace in traces() for file in files_of(tmp_path) if trace in bytes_of(file)} > {
        str(tmp_path / "copies.db"),
        str(store.path / "journal.db"),
    }

    report = forget(store, wanted)

    assert report.complete, report
    assert_forgotten(store, report, before, tmp_path)
    left = store.records.node(Ref.memory(wanted))
    assert isinstance(left, Memory)
    assert (left.status, left.trigger, left.resolution, left.name) == (Status.FORGOTTEN, "", "", f"erased-{wanted}")
    assert ERASED_AT in left.attributes


@pytest.mark.file
def test_nothing_brings_it_back(store: Store, settings: Settings, tmp_path: Path) -> None:
    furnish(store)
    wanted = memory(store)
    hidden = tmp_path / "elsewhere" / "backup.db"
    hidden.parent.mkdir()
    back_up_to(store, tmp_path / "backup.db")
    (tmp_path / "backup.db").rename(hidden)
    before = state_of(store)
    report = forget(store, wanted)
    assert [(copy.path, copy.erased) for copy in report.copies] == [(str(tmp_path / "backup.db"), False)]

    kept = state_of(store)
    store.journal.restate()
    assert state_of(store) == kept
    store.close()
    again = Store(settings, embedder=HashEmbedder())
    assert_forgotten(again, report, before)
    job(again, lambda ticket: restore(again, hidden, ticket))
    assert found_in([again.path], traces()) == []
    assert state_of(again) == kept
    again.close()
    moved = restore_closed(settings.store_path, hidden, store.runtime.clock())
    assert (bool(moved["kept"]), moved["warnings"]) == (True, [])
    last = Store(settings, embedder=HashEmbedder())
    assert not last.graph.path.exists()
    assert_forgotten(last, report, before)
    last.close()


def test_the_copy_of_a_restore_that_was_killed_is_removed_at_the_next_start(settings: Settings) -> None:
    with Helix.open(settings, embedder=HashEmbedder()):
        pass
    left = settings.store_path / "journal.kept-cleared.db"
    left.write_bytes(b"half a copy, with what was erased since")
    with Helix.open(settings, embedder=HashEmbedder()):
        assert not left.exists()


def test_doing_it_twice_does_nothing_the_second_time(store: Store) -> None:
    wanted = memory(store)
    assert forget(store, wanted).rows
    seq = store.journal.last_seq
    assert forget(store, wanted) == EraseReport(erased=(), rows=0, copies=(), warnings=())
    assert store.journal.last_seq == seq


@pytest.mark.file
def test_versions_wordings_and_what_rests_on_it_alone_go_along(store: Store) -> None:
    furnish(store)
    first = memory(store)
    second = curate.edit(store, first, EditRequest(resolution="Only zymurgy helps")).id
    shared = memory(store, "Harvesters want parsnips", "They do")
    own = next(ref for ref in grounds(store, second))
    write(store, edge(Relation.GROUNDED_IN, shared, own))
    insight = Reflection(
        id="r1", question="What of the quaxlotl?", insight="It is picky", recorded_at=store.runtime.clock()
    )
    write(store, put_record(insight), cites("r1", second))

    plan = plan_hard_forget(store, first)

    why = {(each.ref.label, each.ref.id): each.why for each in plan.goes}
    assert why[Label.MEMORY, first] == "it was named"
    assert why[Label.MEMORY, second] == "a newer version of it"
    assert why[Label.REFLECTION, "r1"] == "it rests on nothing else"
    entities = {each.name for each in plan.goes if each.ref.label is Label.ENTITY}
    assert entities == {"farm/zymurgy.toml", f"{RULED}farm/zymurgy.toml", "Thursdays"}
    assert [each.ref.id for each in plan.stays] == [shared]
    before = state_of(store)
    assert_forgotten(store, forget(store, second), before)


def test_what_an_agent_says_it_supersedes_is_no_version_of_it_and_stays(store: Store) -> None:
    said, theirs = memory(store), memory(store, "Harvesters want parsnips", "They do")
    link(store, theirs, said, "supersedes", 1.0, agent="a")
    assert said not in {each.ref.id for each in plan_hard_forget(store, theirs).goes}
    assert theirs not in {each.ref.id for each in plan_hard_forget(store, said).goes}
    curate.edit(store, said, EditRequest(resolution="Only zymurgy helps"))
    assert said not in {each.ref.id for each in plan_hard_forget(store, theirs).goes}


@pytest.mark.file
def test_what_was_made_of_its_words_goes_though_it_rests_on_other_evidence_too(store: Store) -> None:
    named, other = episode(store, f"{SECRET}. {ANSWER}"), episode(store, "The barn is red")
    summary = Memory(
        id="summary",
        name="monday",
        kind=Kind.FACT,
        trigger="Monday",
        resolution=f"{SECRET}. The barn is red",
        recorded_at=store.runtime.clock(),
        provenance=Provenance(extractor="rollup"),
    )
    grounded = [
        PutEdge(
            type=Relation.GROUNDED_IN,
            source=Ref.memory("summary"),
            target=Ref.episode(each),
            props={"created_at": 1},
        )
        for each in (named, other)
    ]
    write(store, put_record(summary), *grounded)

    plan = plan_hard_forget(store, named)

    assert {each.ref.id: each.why for each in plan.goes if each.ref.label is Label.MEMORY} == {
        "summary": "it was made of its words; `helix consolidate --anew` makes it from what is left"
    }
    before = state_of(store)
    assert_forgotten(store, forget(store, named), before)


def test_an_episode_goes_with_the_memory_that_it_alone_grounds(store: Store) -> None:
    alone = episode(store, f"{SECRET}. {ANSWER}", session="beetroot talk", agent="quaxlotl")
    other = episode(store, "The barn is red")
    both = memory(store, "Barns are red", "mostly")
    derived = Memory(
        id="derived", name="quaxlotl", kind=Kind.FACT, trigger=SECRET, resolution="", recorded_at=store.runtime.clock()
    )
    write(
        store,
        put_record(derived),
        *(
            edge(Relation.GROUNDED_IN, source, Ref.episode(target))
            for source, target in (("derived", alone), (both, alone), (both, other))
        ),
    )
    report = forget(store, alone)
    assert {ref.id for ref in report.erased} >= {alone, "derived", "beetroot talk"}
    assert both not in {ref.id for ref in report.erased}
    assert found_in([store.path], traces([f"quaxlotl: {SECRET}. {ANSWER}"])) == []


def test_what_was_merged_into_it_is_erased_too(settings: Settings) -> None:
    store = Store(replace(settings, duplicate_threshold=0.6), embedder=HashEmbedder())
    first = memory(store)
    merged = remember(
        store,
        StoreRequest(trigger=f"{SECRET} vexillology", resolution=ANSWER, kind="fact"),
    )
    assert (merged.status, merged.id) == (StoreStatus.MERGED, first)
    assert len(grounds(store, first)) == 2
    forget(store, first)
    assert found_in([store.path], traces(words=(*WORDS, "vexillology"))) == []
    store.close()


@pytest.mark.file
def test_one_of_many_that_were_written_in_one_row(store: Store) -> None:
    many = [f"fact number {number} of the farm" for number in range(40)]
    operations: list[Operation] = []
    for number, text in enumerate([*many, f"{SECRET}\n{ANSWER}"], 1):
        moment = store.runtime.clock()
        made = Memory(
            id=f"m{number}", name=f"n{number}", kind=Kind.FACT, trigger=text, resolution="", recorded_at=moment
        )
        (vector,) = store.embed([text])
        operations += [
            put_record(made),
            PutPassage(id=f"m{number}#0", number=number, owner=Ref.memory(made.id), text=text, vector=vector),
            edge(Relation.RELATED, made.id, Ref.memory(f"m{number % 40 + 1}")),
        ]
    write(store, *operations)
    before = state_of(store)
    report = forget(store, "m41")
    assert_forgotten(store, report, before)
    kept = state_of(store)
    store.journal.restate()
    assert state_of(store) == kept
    assert store.catalogue.view.words.document_frequency(["quaxlotl", "farm"]) == {"quaxlotl": 0, "farm": 40}


def test_undo_says_that_what_the_job_did_was_erased(store: Store) -> None:
    wanted = memory(store)
    patch = PutNode(label=Label.MEMORY, id=wanted, props={"importance": 9.0})
    change = Change(kind="x", operations=(patch,), note={"job": "j", "step": "s"})
    store.writer.submit(lambda: Decision((change,), None))
    forget(store, wanted)
    report = undo(store, "j")
    assert report.restored == 0
    assert [(conflict.what, conflict.by) for conflict in report.conflicts] == [(f"memory erased-{wanted}", "erase")]
    assert found_in([store.path], traces()) == []


def test_logs_last_answers_and_model_answers_do_not_quote_it(store: Store) -> None:
    wanted = memory(store)
    (store.path / "logs").mkdir(exist_ok=True)
    line = json.dumps({"at": "now", "message": f"stored {SECRET}"}) + "\n"
    (store.path / "logs" / "helix.log").write_text(line * 2 + '{"at": "later"}\n')
    store.journal.set_meta("last_answers", json.dumps({"": SECRET}))
    Answers(store.journal.database).keep(
        "k", 1, KeptAnswer(model="m", answer=SECRET, tokens_in=1, tokens_out=1, cost=0.0)
    )
    forget(store, wanted)
    assert found_in([store.path], traces()) == []
    assert (store.path / "logs" / "helix.log").read_text().count("\n") == 3


@pytest.mark.parametrize("killed", [False, True], ids=["at once", "at the next start"])
def test_what_came_to_belong_to_it_after_it_was_promised_goes_too(settings: Settings, killed: bool) -> None:
    store = Store(settings, embedder=HashEmbedder())
    wanted = memory(store)
    entity = next(store.records.edges_of(Relation.MENTIONS, 1).__iter__()).target
    plan = plan_hard_forget(store, wanted)
    assert entity in {each.ref for each in plan.goes}
    note(store, plan)
    later = curate.edit(store, wanted, EditRequest(trigger=f"{SECRET} and Fridays")).id
    other = memory(store, "Parsnips come by mail", f"The order is in {ANSWER.split()[-2]}")
    before = {each.ref for each in plan_hard_forget(store, other).goes}
    if killed:
        store.close()
        store = Store(settings, embedder=HashEmbedder())
        assert unfinished.finish(store)
    else:
        job(store, lambda ticket: hard_forget(store, plan, ticket))
    assert {wanted, later} <= {left.id for left in tombstones(store.journal)}
    assert not is_erased(store.records.node(Ref.memory(other)))
    assert before <= {each.ref for each in plan_hard_forget(store, other).goes}, "what another speaks of stays"
    assert erasing.under_way(store.journal) is None
    assert found_in([store.path], traces((SECRET,), WORDS[:2])) == []
    store.close()


def test_only_memories_episodes_and_reflections_can_be_named(store: Store) -> None:
    memory(store)
    entity = next(store.records.edges_of(Relation.MENTIONS, 1).__iter__()).target
    with pytest.raises(InvalidInputError):
        plan_hard_forget(store, entity.id)
    with pytest.raises(NotFoundError):
        plan_hard_forget(store, "nothing-of-the-kind")


def test_a_tombstone_is_not_edited_restored_or_confirmed(store: Store) -> None:
    wanted = memory(store)
    forget(store, wanted)
    for change in (curate.restore, curate.confirm, lambda s, i: curate.edit(s, i, EditRequest(trigger="x"))):
        with pytest.raises(ConflictError):
            change(store, wanted)


@pytest.mark.file
@pytest.mark.parametrize(
    "place",
    [
        *("as soon as it is answered", "before the graph's files go", "before rows are emptied", "before the end"),
        *(
            pytest.param(place, marks=pytest.mark.soak)
            for place in (
                *("before the logs are blotted", "between removing and erasing", "inside a copy"),
                *("behind the graph's files", "before memory and image are read anew", "behind memory and image"),
            )
        ),
    ],
)
def test_killed_on_the_way_it_is_finished_at_the_next_start(
    victims: Victims, place: str, settings: Settings, tmp_path: Path
) -> None:
    store = Store(settings, embedder=HashEmbedder())
    furnish(store)
    wanted = memory(store)
    back_up_to(store, tmp_path / "copies.db")
    before = state_of(store)
    gone = {each.ref.id for each in plan_hard_forget(store, wanted).goes}
    store.close()
    assert victims.run("erasing_victim", settings.home, wanted, place) == -signal.SIGKILL

    again = Store(settings, embedder=HashEmbedder())
    assert unfinished.finish(again)
    assert not unfinished.finish(again)

    assert wanted in {left.id for left in tombstones(again.journal)}
    assert again.graph.settle()
    assert found_in([again.path, tmp_path], traces()) == []
    assert state_of(again, gone) == rest_of(before, gone)
    assert again.journal.verify_chain().damaged == ()
    again.close()


def test_the_service_finishes_it_before_it_serves(settings: Settings) -> None:
    store = Store(settings, embedder=HashEmbedder())
    furnish(store)
    plan = plan_hard_forget(store, memory(store))
    refs = tuple(each.ref for each in plan.goes)
    erasing.begin_erasure(
        store, erasing.ErasureNote(kind=erasing.ERASE, refs=refs, at=to_micros(store.runtime.clock()))
    )
    store.close()
    with Helix.open(settings, embedder=HashEmbedder()) as helix:
        assert is_erased(memories.node(helix, plan.root.id))
        gone = {ref.id for ref in refs}
        assert not [
            item
            for item in helix.recall(RecallQuery(query="what does the harvester eat")).items
            if item.node.id in gone
        ]
    assert found_in([settings.store_path], traces()) == []


def test_answers_that_showed_it_can_be_forgotten() -> None:
    answers = LastAnswers()
    answers.keep(RecallAnswer(query=RecallQuery(query=SECRET), items=(), mode="", recipe="", tokens=0))
    answers.clear()
    assert (answers.of(""), answers.to_json()) == (None, "{}")


@pytest.mark.file
def test_a_store_of_an_earlier_helix_says_that_it_does_not_know_all_its_backups(settings: Settings) -> None:
    with closing(Store(settings, embedder=HashEmbedder())) as store:
        victim = memory(store)
        journal = store.journal.database.path
    with closing(sqlite3.connect(journal)) as connection:  # as before copies were known
        connection.execute("DELETE FROM migration WHERE name LIKE '%unknown_copies%'")
        connection.commit()
    with closing(Store(settings, embedder=HashEmbedder())) as store:
        report = forget(store, victim)
        assert [warning for warning in report.warnings if "does not know of" in warning]
        assert not report.complete


@pytest.mark.file
def test_a_new_store_knows_all_its_backups(store: Store) -> None:
    assert forget(store, memory(store)).warnings == ()
