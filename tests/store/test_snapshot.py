"""The image of what is in memory: as good as reading everything, and never believed against the journal."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helix.journal.database import Database
from helix.journal.log import Journal
from helix.model.edge import Label, Ref, Relation
from helix.model.memory import Kind, Status
from helix.model.operations import Change, DropEdge, DropPassage, Operation, PutEdge, PutNode, PutPassage
from helix.store import snapshot, snapshot_file
from helix.store.catalogue import Catalogue
from helix.store.csr import RELATIONS
from helix.store.node_columns import COLUMN_NAMES
from helix.store.projection import Projection
from helix.store.snapshot import ImageKeeper, Renewal
from helix.store.snapshot_file import Image
from helix.text.tokens import lexical_tokens
from tests.sampling import draws

DIMENSION = 4
IDS = [f"m{number}" for number in range(6)]
Step = tuple[str, int, int]
steps = st.lists(
    st.tuples(
        st.sampled_from(["put", "rename", "retire", "passage", "drop", "edge", "unlink", "entity"]),
        *[st.integers(0, 5)] * 2,
    ),
    max_size=25,
)


class World:
    """A journal with the tables that follow it, as the writer keeps them."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        self.folder = folder
        self.journal = Journal(Database(folder / "journal.db"), tokenise=lexical_tokens)
        if self.journal.spaces.active() is None:
            space = self.journal.spaces.prepare(model="m", dimension=DIMENSION, digest="d")
            self.journal.spaces.activate(space)
        self.empty()

    def empty(self) -> None:
        """Forget what is in memory, as the end of a process does."""
        self.catalogue, self.projection = Catalogue(DIMENSION), Projection()
        self.keeper = ImageKeeper(self.folder / "image", self.journal, self.catalogue, self.projection, least_rows=0)

    def write(self, *operations: Operation) -> None:
        rows = self.journal.append([Change(kind="test", operations=operations)], 1)
        complete = [op for row in rows for op in row.change.operations]
        self.catalogue.apply(complete)
        self.projection.apply(complete, self.catalogue)
        self.keeper.note(rows)

    def take(self, step: Step) -> None:
        """Write one change; `numbers` are never used twice, as with the real writer."""
        word, one, two = step
        here, there = (Ref.memory(IDS[number]) for number in (one, two))
        match word:
            case "put" | "rename" | "retire":
                props = {
                    "name": f"name-{two if word == 'rename' else one}",
                    "kind": Kind.FACT.value,
                    "scope": f"s{one % 2}",
                }
                status = Status.RETIRED if word == "retire" else Status.ACTIVE
                self.write(
                    PutNode(
                        label=Label.MEMORY, id=here.id, props=props | {"status": status.value, "source": f"from-{one}"}
                    )
                )
            case "passage":
                vector = np.eye(DIMENSION, dtype=np.float32)[two % DIMENSION].tobytes() if two else None
                number = self.catalogue.next_passage_number
                self.write(
                    PutPassage(id=f"{here.id}#0", number=number, owner=here, text=f"word{one} word{two}", vector=vector)
                )
            case "drop":
                self.write(DropPassage(id=f"{here.id}#0"))
            case "edge":
                self.write(PutEdge(type=RELATIONS[two], source=here, target=there, props={"weight": 0.5 + two}))
            case "unlink":
                self.write(DropEdge(type=RELATIONS[two], source=here, target=there))
            case "entity":
                entity = PutNode(
                    label=Label.ENTITY, id=f"e{one}", props={"kind": "file", "name": f"src/Part{one}.c", "scope": "s0"}
                )
                touch = PutEdge(type=Relation.TOUCHES, source=there, target=Ref.entity(f"e{one}"), props={})
                self.write(entity, touch)

    def read_everything(self) -> tuple[Catalogue, Projection]:
        catalogue, projection = Catalogue(DIMENSION), Projection()
        with self.journal.snapshot() as (_, state):
            catalogue.load([*state.nodes(), *state.passages()], tokens=self.journal.tokens())
            projection.load(state.edges(), catalogue)
        return catalogue, projection


def seen(catalogue: Catalogue, projection: Projection) -> dict[str, object]:
    """Return everything that readers can see, by ids instead of rows."""
    view, graph = catalogue.view, projection.snapshot
    ids = view.lookups.ids
    living = np.flatnonzero(view.passages.alive).tolist()
    vectors = view.passages.vectors.rows(np.array(living, np.int64))
    found, scores = view.words.search(["word1", "word2", "word5"])
    edges = graph.edges()
    return {
        "rows": {
            ids[row]: [
                str(getattr(view.columns, name)[row]) for name in COLUMN_NAMES if name not in ("scope", "session")
            ]
            + [view.scope_of(row), view.name_of(row)]
            for row in range(view.count)
        },
        "names": {
            name: {ids[row] for row in view.lookups.memories.get(name)} for name in (f"name-{n}" for n in range(6))
        },
        "sources": {n: {ids[row] for row in view.lookups.sources[0].get(f"from-{n}")} for n in range(6)},
        "files": {n: {ids[row] for row in view.files_like(f"other/part{n}.c")} for n in range(6)},
        "passages": {
            view.passages.ids[index]: (
                ids[view.passages.owner[index]],
                int(view.passages.numbers[index]),
                vectors[place].tolist(),
            )
            for place, index in enumerate(living)
        },
        "embedded": {view.passages.ids[index] for index in living if view.passages.embedded[index]},
        "words": {view.passages.ids[index]: round(float(score), 4) for index, score in zip(found, scores, strict=True)},
        "edges": {
            (ids[source], ids[target], int(kind)): float(weight)
            for source, target, kind, weight in zip(
                edges.source, edges.target, edges.relation, edges.weight, strict=True
            )
        },
        "strength": {ids[row]: round(float(graph.strength_of(np.array([row]))[0]), 6) for row in range(view.count)},
        "next": catalogue.next_passage_number,
    }


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """A world with some of everything, and its image."""
    world = World(tmp_path / "world")
    for number in range(6):
        world.take(("put", number, number))
        world.take(("passage", number, number))
        world.take(("edge", number, (number + 1) % 6))
    world.keeper.note(world.journal.rows(0, 100))
    world.keeper.close()
    world.empty()
    yield world
    world.journal.close()


@given(before=steps, after=steps, later=steps)
@settings(max_examples=draws(20), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_an_image_with_what_came_since_is_the_same_as_reading_everything(
    tmp_path_factory: pytest.TempPathFactory, before: list[Step], after: list[Step], later: list[Step]
) -> None:
    world = World(tmp_path_factory.mktemp("world"))
    for step in (*(("put", number, 0) for number in range(6)), *before):
        world.take(step)
    world.keeper.close()
    for step in after:
        world.take(step)
    world.empty()
    if world.keeper.load():
        assert seen(world.catalogue, world.projection) == seen(*world.read_everything()) | {
            "next": world.catalogue.next_passage_number
        }
    else:  # so many passages were dead that an image was not worth keeping
        assert any(word in ("drop", "passage") for word, _, _ in before)
        world.catalogue, world.projection = world.read_everything()
    for step in later:
        world.take(step)
    expected = seen(*world.read_everything())
    expected["next"] = world.catalogue.next_passage_number
    assert seen(world.catalogue, world.projection) == expected
    world.journal.close()


@given(before=steps, meanwhile=steps, later=steps)
@settings(max_examples=draws(20), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_tables_filled_beside_those_in_use_hold_what_was_written_meanwhile(
    tmp_path_factory: pytest.TempPathFactory, before: list[Step], meanwhile: list[Step], later: list[Step]
) -> None:
    world = World(tmp_path_factory.mktemp("world"))
    for step in (*(("put", number, 0) for number in range(6)), *before):
        world.take(step)
    renewal = Renewal(world.journal, DIMENSION, salience_floor=0.5)
    generation = world.catalogue.view.generation
    for step in meanwhile:
        world.take(step)
    assert renewal.put_in_place(world.catalogue, world.projection)
    assert world.projection.snapshot.generation == world.catalogue.view.generation > generation
    for step in later:
        world.take(step)
    expected = seen(*world.read_everything()) | {"next": world.catalogue.next_passage_number}
    assert seen(world.catalogue, world.projection) == expected
    world.journal.close()


def test_an_image_is_made_anew_while_the_journal_grows(tmp_path: Path) -> None:
    world = World(tmp_path / "world")
    for number in range(snapshot.ROWS_BETWEEN + 10):
        world.take(("put", number % 6, number % 5))
    world.keeper.wait()
    world.empty()
    assert world.keeper.load()
    assert seen(world.catalogue, world.projection) == seen(*world.read_everything())
    world.journal.close()


def test_an_image_of_another_journal_is_not_believed(world: World, tmp_path: Path) -> None:
    other = World(tmp_path / "other")
    other.take(("put", 1, 1))
    (world.folder / "image").replace(other.folder / "image")
    assert not other.keeper.load()
    other.journal.close()


def test_an_image_that_is_ahead_of_the_journal_is_not_believed(world: World, tmp_path: Path) -> None:
    backup = tmp_path / "backup.db"
    world.journal.database.backup_to(backup)
    world.empty()
    assert world.keeper.load()
    world.take(("put", 0, 3))
    world.keeper.close()
    world.journal.restore_from(backup)
    world.empty()
    assert not world.keeper.load()


def test_an_image_of_another_course_of_events_is_not_believed(world: World, tmp_path: Path) -> None:
    backup = tmp_path / "backup.db"
    world.journal.database.backup_to(backup)
    assert world.keeper.load()
    world.take(("put", 0, 3))
    world.keeper.close()
    world.journal.restore_from(backup)
    world.take(("put", 0, 4))
    world.empty()
    assert not world.keeper.load()


def test_a_row_since_then_that_cannot_be_read_has_everything_read(world: World) -> None:
    assert world.keeper.load()
    for number in range(3):
        world.take(("put", number, 4))
    world.journal.close()
    with sqlite3.connect(world.folder / "journal.db") as raw:
        raw.execute("UPDATE log SET payload = x'00' WHERE seq = ?", (world.journal.last_seq - 1,))
    raw.close()
    world.journal = Journal(Database(world.folder / "journal.db"), tokenise=lexical_tokens)
    world.empty()
    assert not world.keeper.load()


def test_an_image_of_other_vectors_is_not_believed(world: World) -> None:
    space = world.journal.spaces.prepare(model="other", dimension=DIMENSION, digest="e")
    world.journal.spaces.activate(space)
    assert not world.keeper.load()


def test_a_damaged_image_has_everything_read(world: World) -> None:
    path = world.folder / "image"
    damaged = bytearray(path.read_bytes())
    damaged[-100] ^= 1
    path.write_bytes(damaged)
    assert not world.keeper.load()
    path.write_bytes(b"")
    assert not world.keeper.load()


def test_a_small_store_has_no_image(world: World) -> None:
    few = ImageKeeper(world.folder / "image", world.journal, world.catalogue, world.projection, least_rows=1_000)
    assert few.load()
    few.note(world.journal.rows(0, 5))
    few.close()
    assert not (world.folder / "image").exists()


@pytest.mark.parametrize(
    "change",
    [{"seq": "many"}, {"seq": 10**30}, {"layout": []}, {"dimension": "four"}, {"dimension": None}, {"chain": {}}],
)
def test_nothing_that_stands_in_an_image_stops_a_start(world: World, change: dict[str, object]) -> None:
    path = world.folder / "image"
    image, stamp = snapshot_file.read(path), snapshot_file.read_stamp(path)
    assert image is not None
    assert stamp is not None
    snapshot_file.write(path, {**stamp, **change}, image)  # type: ignore[dict-item]
    assert not world.keeper.load()


def test_an_image_that_lacks_a_part_is_not_believed(world: World) -> None:
    path = world.folder / "image"
    stamp = snapshot_file.read_stamp(path)
    assert stamp is not None
    for image in (Image(), Image({"column label": [np.zeros((2, 2), np.float32)]})):
        snapshot_file.write(path, stamp, image)
        assert not world.keeper.load()
