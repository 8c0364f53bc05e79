"""Killed at any moment an export, an import or a rollback is whole or not there, and the store works afterwards."""

from __future__ import annotations

import os
import random
import shutil
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from exchanging import root

from helix.memory.remember.request import StoreRequest
from helix.memory.worker.undo import undo
from helix.model.edge import Relation
from helix.model.memory import Status
from helix.model.provenance import Trust
from helix.model.recall import RecallQuery
from helix.model.reports import JobState
from helix.operations import memories, strands, upkeep
from helix.operations import strand_keys as keys
from helix.service import Helix
from helix.strands import container
from helix.strands.merging import Merge
from helix.strands.three_way import Incoming
from helix.strands.whole import UNDER_WAY
from tests.sampling import some
from tests.victims import Victims
from tests.waiting import MOST_SECONDS, all_ended, finished

sys.path.append(str(Path(__file__).parents[1] / "crash"))

from strand_victim import BUILT_ON, TAG, opened

MEMORIES, FORGOTTEN = 12, 3
MOMENTS, MANY_MOMENTS = 1, 60
"""Kills at no place in particular of each deed: in an ordinary run, and in a soak."""
EVERYWHERE = ("before a transaction", "inside a transaction", "behind a transaction", "before memory has a step")
PLACES = {
    "import": (
        *((place, nth) for place in EVERYWHERE for nth in (1, 3)),
        *((place, 1) for place in ("behind the first note", "before the last note", "behind the last note")),
        *((place, 1) for place in ("when all rows lie ready", "when all rows are in", "when all have met")),
        ("before rows are written", 1),
        *((place, 1) for place in ("before the rows are known", "behind the rows that are known")),
        ("before the version is noted", 1),
        ("before a version is kept", 2),
    ),
    "rollback": (
        *((place, 1) for place in EVERYWHERE),
        *((place, 1) for place in ("behind the first note", "before the last note", "behind the last note")),
        ("when the rows go back", 1),
        ("before a version is kept", 1),
    ),
    "export": (
        *(("when a file is begun", nth) for nth in (1, 2)),
        ("behind a version that is kept", 1),
        *(("in the middle of the content", nth) for nth in (1, 2)),
        *((place, 1) for place in ("behind the content", "before the name is given", "behind the name that is given")),
    ),
}
KILLS = [(deed, *kill) for deed, kills in PLACES.items() for kill in kills]


@dataclass(frozen=True)
class Scene:
    """A home to be copied, a strand for it, and what the root of its store is before and after each deed."""

    home: Path
    strand: Path
    before: str
    after: dict[str, str]
    took: dict[str, int]
    """Milliseconds of each deed."""


@pytest.fixture(scope="module")
def scene(victims: Victims, tmp_path_factory: pytest.TempPathFactory) -> Scene:
    folder = tmp_path_factory.mktemp("scene")
    with opened(folder / "mine") as mine, opened(folder / "theirs") as theirs:
        for number, machine in enumerate((mine, theirs)):
            keys.new_key(machine, f"own-{number}")
        for here, there in ((mine, theirs), (theirs, mine)):
            (own,) = (key for key in keys.keys(there) if key.own)
            keys.import_key(here, "other", own.public)
            keys.trust_key(here, "other", Trust.USER_ASSERTED)
        tell(mine, range(MEMORIES))
        finished(mine, strands.export_strand(mine, str(folder / "first.dna"), recipients=["other"], tag=TAG))
        finished(theirs, strands.import_strand(theirs, str(folder / "first.dna")))
        for machine, port in ((mine, 8001), (theirs, 8002)):
            memories.store(
                machine, StoreRequest(trigger="the api listens on which port", resolution=str(port), kind="fact")
            )
        tell(mine, range(MEMORIES, 2 * MEMORIES))
        tell(theirs, range(2 * MEMORIES, 3 * MEMORIES))
        memories.forget(theirs, recalled(theirs, FORGOTTEN))
        finished(theirs, strands.export_strand(theirs, str(folder / "second.dna"), recipients=["other"]))
        before = root(mine.store)
        assert mine.store.graph.settle()
    made = Scene(folder / "mine", folder / "second.dna", before, {}, {})
    for deed in PLACES:
        with copied(made, folder / deed) as home:
            assert victims.run("strand_victim", home, deed, "nowhere", 0, path_for(made, deed, home)) == 0
            made.took[deed] = int((home / "words").read_text())
            with opened(home) as helix:
                made.after[deed] = root(helix.store)
    assert len({before, made.after["import"], made.after["rollback"]}) == 3
    assert made.after["export"] == before
    return made


def tell(helix: Helix, numbers: range) -> None:
    words = random.Random(numbers.start)
    for number in numbers:
        noise = " ".join(words.sample(["wal", "lock", "page", "index", "cache", "graph", "token", "fold"], 4))
        about = f"unique{number} about {noise}"
        memories.store(helix, StoreRequest(trigger=about, resolution=f"see src/file{number % 9}.c", kind="fact"))


def recalled(helix: Helix, number: int) -> str:
    return helix.recall(RecallQuery(query=f"unique{number}", limit=1)).items[0].node.id


@contextmanager
def copied(scene: Scene, home: Path) -> Iterator[Path]:
    shutil.copytree(scene.home, home)
    try:
        yield home
    finally:
        shutil.rmtree(home)


def path_for(scene: Scene, deed: str, home: Path) -> str:
    return str(home / "out.dna" if deed == "export" else scene.strand)


def check(scene: Scene, deed: str, home: Path, *, where: str) -> None:
    """Hold what has to be true of a home in which a deed was killed."""
    with opened(home) as helix:
        all_ended(helix)
        assert not helix.store.journal.meta(UNDER_WAY), where
        assert root(helix.store) in (scene.before, scene.after[deed]), where
        assert not list((helix.store.path / "strands").glob("*.draft")), where
        if (home / "out.dna").exists():
            assert container.verify(home / "out.dna").data["root"] == scene.before, where
        assert recalled(helix, 7), where
        tell(helix, range(9_000, 9_002))
        assert upkeep.doctor(helix).healthy, where
        again = path_for(scene, deed, home)
        if deed == "export":
            Path(again).unlink(missing_ok=True)
            finished(helix, strands.export_strand(helix, again, recipients=["other"]))
            container.verify(Path(again))
        else:
            finished(helix, strands.import_strand(helix, str(scene.strand)))
            triggers = (f"unique{number}" for number in (0, MEMORIES, 2 * MEMORIES, 3 * MEMORIES - 1))
            for trigger in () if deed == "rollback" else triggers:
                item = helix.recall(RecallQuery(query=trigger, limit=1)).items[0]
                assert item.node.trigger.startswith(f"{trigger} "), where


@pytest.mark.parametrize(("deed", "place", "nth"), some(KILLS, 2))
def test_killed_at_a_place_it_is_whole_or_not_there(
    victims: Victims, scene: Scene, tmp_path: Path, deed: str, place: str, nth: int
) -> None:
    with copied(scene, tmp_path / "home") as home:
        code = victims.run("strand_victim", home, deed, place, nth, path_for(scene, deed, home))
        assert code == -signal.SIGKILL, "the place is on the way"
        check(scene, deed, home, where=f"{deed} {place} {nth}")


@pytest.mark.soak
def test_killed_while_somebody_built_on_it_it_is_whole_and_so_is_what_was_built(
    victims: Victims, scene: Scene, tmp_path: Path
) -> None:
    with copied(scene, tmp_path / "home") as home:
        code = victims.run("strand_victim", home, "import", BUILT_ON, 3, str(scene.strand))
        assert code == -signal.SIGKILL
        job, memory, other = (home / "words").read_text().split()
        with opened(home) as helix:
            all_ended(helix)
            assert not helix.store.journal.meta(UNDER_WAY)
            assert not list((helix.store.path / "strands").glob("*.staged"))
            said = {memory.trigger.split()[0] for memory in helix.store.index.memories(Status.ACTIVE)}
            assert {f"unique{number}" for number in range(3 * MEMORIES) if number != FORGOTTEN} <= said
            held = helix.store.index.memory_by_id(memory)
            assert held is not None and held.helped == 1
            edges = helix.store.index.records.edges_at(held.ref, Relation.SOLVES)
            assert [edge.source.id for edge in edges] == [other]
            assert upkeep.doctor(helix).healthy
            assert finished(helix, strands.import_strand(helix, str(scene.strand))).result["already"]
            assert undo(helix.store, job, dry_run=True).conflicts


@pytest.mark.soak
def test_what_is_left_of_an_import_keeps_no_start_waiting_and_stops_when_it_is_told(
    victims: Victims, scene: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with copied(scene, tmp_path / "home") as home:
        victims.run("strand_victim", home, "import", "before rows are written", 1, str(scene.strand))
        go_on, write = threading.Event(), Merge.write

        def slow(merge: Merge, batch: Sequence[Incoming], step: str) -> None:
            assert go_on.wait(MOST_SECONDS)
            write(merge, batch, step)

        monkeypatch.setattr(Merge, "write", slow)
        with opened(home) as helix:
            assert helix.jobs.all()[0].state is JobState.RUNNING
            assert recalled(helix, 7)
            helix.jobs.cancel(helix.jobs.all()[0].id)
            go_on.set()
            all_ended(helix)
            assert helix.store.journal.meta(UNDER_WAY)
        monkeypatch.setattr(Merge, "write", write)
        check(scene, "import", home, where="at the start after that")


@pytest.mark.soak
@pytest.mark.parametrize("deed", some(PLACES, 1))
def test_killed_at_any_moment_it_is_whole_or_not_there(
    victims: Victims, scene: Scene, tmp_path: Path, pytestconfig: pytest.Config, deed: str
) -> None:
    rng = random.Random(deed)
    for number in range(MANY_MOMENTS if pytestconfig.getoption("--soak") else MOMENTS):
        moment = rng.randrange(scene.took[deed] + 1)
        with copied(scene, tmp_path / f"home-{number}") as home:
            victims.run("strand_victim", home, deed, "after", moment, path_for(scene, deed, home))
            check(scene, deed, home, where=f"{deed} after {moment} ms")


def test_the_draft_that_a_kill_left_is_removed_by_a_later_export(
    victims: Victims, scene: Scene, tmp_path: Path
) -> None:
    with copied(scene, tmp_path / "home") as home:
        victims.run("strand_victim", home, "export", "before the name is given", 1, str(home / "out.dna"))
        (draft,) = home.glob(".out.dna.*")
        os.utime(draft, (0, 0))
        with opened(home) as helix:
            finished(helix, strands.export_strand(helix, str(home / "other.dna"), recipients=["other"]))
        assert not draft.exists()
