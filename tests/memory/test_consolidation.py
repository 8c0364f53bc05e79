"""Consolidation in a store: the difference is written, once, whatever the order, and what people did is kept."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from saying import LONG_AGO, PROJECT, VENV, disputed, embed, episode, job, learned, said_in, say, shown

from helix import settings as configuration
from helix.agents.outcomes.feedback import feedback
from helix.memory.capture.episodes import EpisodeRequest, record
from helix.memory.change.compose import Composer
from helix.memory.extraction.cluster import Bars
from helix.memory.extraction.consolidation import consolidate, rederive
from helix.memory.extraction.episodes_seen import EpisodeEvidence
from helix.memory.extraction.extract import Extraction, RuleExtractor
from helix.memory.job_run.run import Run
from helix.memory.remember.curate import EditRequest, confirm, edit, forget
from helix.memory.remember.remember import remember
from helix.memory.remember.request import StoreRequest
from helix.memory.worker.undo import undo
from helix.model.edge import Ref
from helix.model.episode import Episode
from helix.model.memory import Kind, Status
from helix.model.provenance import Trust
from helix.operations import background_work
from helix.providers.choose import embedder_for
from helix.service import Helix
from helix.settings import Settings
from helix.store.store import Store
from helix.store.writer import Decision
from tests.sampling import draws, some
from tests.waiting import UNHURRIED

T = TypeVar("T")

EVERYTHING = {"scope": None}
LINTER = ("Always run the linter before pushing.", "Remember to always run the linter before pushing.")
TALK = (
    *LINTER,
    "Always run the linter before pushing to main.",
    "We decided to use SQLite for the journal.",
    "We decided to use SQLite for the journal file.",
    "I prefer tabs over spaces.",
    "Remember: the api listens on port 8080.",
    "Remember: the api listens on port 9090.",
    "Remember: the api listens on port 9091.",
    "Never commit the generated schema files.",
    "You need the generated schema files before the build.",
    "The build needs the generated schema files first.",
    "Had to make the generated schema files before the build.",
    "Hello there, good morning!",
)


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Settings with which the background worker consolidates nothing by itself, beside the runs of a test."""
    return dataclasses.replace(settings, consolidation_budget=0.0)


@pytest.fixture
def store(living: Helix) -> Store:
    """The store of a service whose worker rests: it would make the vectors that a test leaves out."""
    background_work.pause_worker(living, True)
    return living.store


def patch(store: Store, ref: Ref, **fields: object) -> None:
    """Change a node behind everybody's back."""

    def decision() -> Decision[None]:
        composer = Composer(store, store.runtime.clock())
        composer.patch(ref, **fields)
        return Decision((composer.change("test"),), None)

    store.writer.submit(decision)


@pytest.mark.soak
def test_ten_times_activate_the_venv_in_other_words_is_one_grounded_convention(
    models_path: Path, tmp_path: Path
) -> None:
    options = configuration.load({"home": tmp_path}, environ=UNHURRIED, cwd=tmp_path)
    embedder = embedder_for(configuration.load({"home": models_path.parent}, environ=UNHURRIED, cwd=tmp_path)).embedder
    store = Store(options, embedder=embedder)
    try:
        say(store, *VENV, "We decided to use SQLite for the journal.", "Restart the server before the tests.")

        consolidate(job(store, "night"), EVERYTHING)

        venv, journal = sorted(learned(store), key=lambda memory: memory.kind)
        assert (venv.kind, journal.kind) == (Kind.CONVENTION, Kind.DECISION)
        assert venv.trigger in VENV and len(said_in(store, venv)) == 10
    finally:
        store.close()


def test_consolidating_again_changes_nothing(store: Store) -> None:
    say(store, *TALK)
    consolidate(job(store, "first"), EVERYTHING)
    before, rows = shown(store), store.journal.last_seq

    counts = consolidate(job(store, "second"), EVERYTHING)
    again = rederive(job(store, "third"), EVERYTHING)

    assert shown(store) == before and store.journal.last_seq == rows
    assert counts["episodes read"] == 0 and again["memories unchanged"] == len(before)


@hypothesis_settings(
    max_examples=draws(6),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(texts=st.lists(st.sampled_from(TALK), min_size=1, max_size=10), shuffle=st.randoms(), data=st.data())
def test_in_one_run_or_in_many_and_in_any_order_the_memories_are_the_same(
    store: Store, texts: list[str], shuffle: random.Random, data: st.DataObject
) -> None:
    said = list(enumerate(texts))
    shuffle.shuffle(said)
    cuts = data.draw(st.lists(st.booleans(), min_size=len(said), max_size=len(said)))
    example = store.journal.last_seq  # examples share a store: each has scopes of its own
    once, nightly = f"once-{example}", f"nightly-{example}"

    say(store, *texts, scope=once)
    consolidate(job(store, once), {"scope": once})
    for night, ((number, text), run_now) in enumerate(zip(said, cuts, strict=True)):
        say(store, text, first=number, scope=nightly)
        if run_now:
            consolidate(job(store, f"{nightly}-{night}"), {"scope": nightly})
    consolidate(job(store, f"{nightly}-last"), {"scope": nightly})

    assert shown(store, nightly) == shown(store, once)
    assert disputed(store, nightly) == disputed(store, once)


def test_derived_memories_that_were_deleted_come_back_with_feedback_and_a_persons_words(store: Store) -> None:
    say(store, *TALK)
    consolidate(job(store, "first"), EVERYTHING)
    before = shown(store)
    edited = next(memory for memory in learned(store) if memory.kind is Kind.PREFERENCE)
    praised = next(memory for memory in learned(store) if memory.kind is Kind.DECISION)
    edit(store, edited.name, EditRequest(trigger="Tabs, and four columns wide."))
    feedback(store, [praised.name], 2.0)
    for memory in learned(store):
        patch(store, Ref.memory(memory.id), status=Status.RETIRED)

    rederive(job(store, "again"), EVERYTHING)

    after = {memory.kind: memory for memory in learned(store)}
    assert after[Kind.PREFERENCE].trigger == "Tabs, and four columns wide."
    assert (after[Kind.DECISION].helped, after[Kind.DECISION].uses) == (2.0, 1)
    assert {one[4] for one in shown(store)} == {one[4] for one in before}
    unedited = {one for one in shown(store) if one[0] != Kind.PREFERENCE}
    assert unedited == {one for one in before if one[0] != Kind.PREFERENCE}


def test_a_persons_words_stay_while_the_evidence_grows(store: Store) -> None:
    say(store, LINTER[0])
    consolidate(job(store, "first"), EVERYTHING)
    edit(store, learned(store)[0].name, EditRequest(trigger="Lint, then push."))

    say(store, LINTER[1], first=1)
    consolidate(job(store, "second"), EVERYTHING)

    (memory,) = learned(store)
    assert memory.trigger == "Lint, then push." and memory.confidence > 0.65
    assert len(said_in(store, memory)) == 2


def test_what_a_person_confirmed_keeps_its_words_whatever_is_said_later(store: Store) -> None:
    told = say(store, LINTER[0], trust=Trust.AGENT_INFERRED)
    consolidate(job(store, "first"), EVERYTHING)
    before = confirm(store, learned(store)[0].name)
    longer = f"{LINTER[0]} Skip the tests."
    told += say(store, longer, longer, longer, first=1, trust=Trust.TOOL_OUTPUT)
    consolidate(job(store, "second"), EVERYTHING)

    (memory,) = learned(store)
    assert (memory.trigger, memory.resolution) == (before.trigger, before.resolution)
    assert memory.provenance.trust is Trust.USER_ASSERTED
    for one in told:
        patch(store, Ref.episode(one), status=Status.QUARANTINED)
    consolidate(job(store, "third"), EVERYTHING)
    assert [one.id for one in learned(store)] == [memory.id]


def test_what_a_person_forgot_does_not_come_back(store: Store) -> None:
    say(store, LINTER[0])
    consolidate(job(store, "first"), EVERYTHING)
    forget(store, learned(store)[0].name)

    say(store, LINTER[1], first=1)
    consolidate(job(store, "second"), EVERYTHING)
    rederive(job(store, "third"), EVERYTHING)

    assert [memory.status for memory in learned(store)] == [Status.FORGOTTEN]


def test_a_memory_goes_when_its_grounding_goes_and_comes_back_with_it(store: Store) -> None:
    (told,) = say(store, LINTER[0])
    consolidate(job(store, "first"), EVERYTHING)
    (known,) = learned(store)

    patch(store, Ref.episode(told), status=Status.QUARANTINED)
    consolidate(job(store, "second"), EVERYTHING)
    assert learned(store) == [] and store.records.node(Ref.episode(told))

    patch(store, Ref.episode(told), status=Status.ACTIVE)
    rederive(job(store, "third"), EVERYTHING)
    assert [memory.trigger for memory in learned(store)] == [known.trigger]


def test_a_stored_memory_that_says_the_same_is_strengthened_once_for_each_episode(store: Store) -> None:
    remember(store, StoreRequest(trigger=LINTER[0], resolution="", kind="convention", scope=PROJECT))
    say(store, LINTER[0], LINTER[0])

    consolidate(job(store, "first"), EVERYTHING)
    rederive(job(store, "second"), EVERYTHING)

    (memory,) = store.index.memories(Status.ACTIVE)
    assert learned(store) == [] and memory.attributes["helix:seen"] == 3
    assert len(said_in(store, memory)) == 3


def test_what_the_web_repeats_is_quarantined(store: Store) -> None:
    needs = [text for text in TALK if "generated schema files" in text and "Never" not in text]
    say(store, *needs, trust=Trust.WEB)

    consolidate(job(store, "first"), EVERYTHING)

    assert {memory.status for memory in learned(store)} <= {Status.QUARANTINED}
    assert list(store.index.memories(Status.ACTIVE)) == []


def test_a_dry_run_says_what_it_would_do_and_writes_nothing(store: Store) -> None:
    say(store, *TALK)
    rows = store.journal.last_seq
    run = job(store, "look", dry_run=True)

    consolidate(run, EVERYTHING)

    assert store.journal.last_seq == rows and learned(store) == []
    assert any("I prefer tabs over spaces." in line for line in run.plan)


def test_another_scope_is_left_alone(store: Store) -> None:
    say(store, LINTER[0])

    counts = consolidate(job(store, "first"), {"scope": "another"})

    assert counts["episodes read"] == 0 and learned(store) == []


def test_an_episode_without_a_vector_waits_for_it(store: Store) -> None:
    record(store, EpisodeRequest(content=LINTER[0], scope=PROJECT, role="user"))

    before = consolidate(job(store, "first"), {"scope": PROJECT})
    embed(store)
    after = consolidate(job(store, "second"), {"scope": PROJECT})

    assert (before["episodes read"], after["episodes read"]) == (0, 1)
    assert [memory.trigger for memory in learned(store)] == [LINTER[0]]


@pytest.mark.parametrize("seed", some([2, 3, 5], 0))
def test_many_episodes_give_the_same_at_once_and_night_by_night(
    store: Store, seed: int, pytestconfig: pytest.Config
) -> None:
    """Half as many, in half as many nights, where it is not a soak."""
    nights = 6 if pytestconfig.getoption("--soak") else 3
    chance = random.Random(seed)
    verbs = ("Always check", "Never touch", "Remember to clean", "We decided to keep", "Had to fix", "You need")
    things = ("engine", "oil", "lamp", "door", "kettle", "ladder", "rope", "the server", "lib/url.c")
    tails = ("first", "before the start", "after 3 days", "after 5 days", "on Linux", "so that it holds")
    texts = [
        f"{chance.choice(verbs)} the {chance.choice(things)} and the {chance.choice(things)} {chance.choice(tails)}."
        for _ in range(20 * nights)
    ]
    once, nightly = "once", "nightly"
    say(store, *texts, scope=once)
    consolidate(job(store, once), {"scope": once})
    order = chance.sample(range(len(texts)), len(texts))
    for night in range(nights):
        for number in order[night * 20 : night * 20 + 20]:
            at = LONG_AGO + timedelta(hours=number)
            trust = Trust.USER_ASSERTED
            record(
                store, EpisodeRequest(content=texts[number], scope=nightly, role="user", occurred_at=at, trust=trust)
            )
        embed(store)
        consolidate(job(store, f"{nightly}-{night}"), {"scope": nightly})

    assert shown(store, nightly) == shown(store, once)
    assert disputed(store, nightly) == disputed(store, once)
    before = shown(store, once)
    rederive(job(store, f"{once}-again"), {"scope": once})
    assert shown(store, once) == before and len(before) > 5


def test_what_is_quarantined_while_a_run_is_at_work_is_left_out(store: Store) -> None:
    told, _ = say(store, LINTER[0], "I prefer tabs over spaces.")

    class Meanwhile(Run):
        """A run during which an episode goes, after it was read."""

        def write(self, step: str, compose: Callable[[Composer], T]) -> T | None:
            if not self.counts:
                patch(store, Ref.episode(told), status=Status.QUARANTINED)
                self.count("gone")
            return super().write(step, compose)

    consolidate(Meanwhile(store, "first", "consolidate"), EVERYTHING)

    assert [memory.trigger for memory in learned(store)] == ["I prefer tabs over spaces."]


def test_what_people_do_while_a_run_is_at_work_is_kept(store: Store) -> None:
    say(store, LINTER[0])
    consolidate(job(store, "first"), EVERYTHING)
    name = learned(store)[0].name
    say(store, LINTER[1], first=1)

    class Meanwhile(Run):
        """A run during which somebody rates a memory, and then words it anew."""

        def write(self, step: str, compose: Callable[[Composer], T]) -> T | None:
            if not self.counts:
                feedback(store, [name], 1.0)
                edit(store, name, EditRequest(trigger="Lint, then push."))
                self.count("edited")
            return super().write(step, compose)

    consolidate(Meanwhile(store, "second", "consolidate"), EVERYTHING)

    (memory,) = learned(store)
    assert memory.trigger == "Lint, then push." and memory.helped == 1.0
    assert len(said_in(store, memory)) == 2


def test_a_run_that_is_stopped_ends_at_its_next_rest_and_the_next_one_finishes(store: Store) -> None:
    say(store, *TALK)

    class Stopped(Run):
        """A run that is asked to stop at its third look."""

        looks = 0

        @property
        def cancelled(self) -> bool:
            self.looks += 1
            return self.looks > 2

    stopped = Stopped(store, "first", "consolidate")
    assert "episodes read" not in consolidate(stopped, EVERYTHING) and stopped.looks == 3
    consolidate(job(store, "second"), EVERYTHING)
    before = shown(store)

    assert before and rederive(job(store, "third"), EVERYTHING)["memories unchanged"] == len(before)


def test_memories_whose_job_was_undone_are_derived_again(store: Store) -> None:
    say(store, *TALK)
    consolidate(job(store, "first"), EVERYTHING)
    before, edges = shown(store), disputed(store)

    assert undo(store, "first").conflicts == () and learned(store) == []
    rederive(job(store, "second"), EVERYTHING)

    assert shown(store) == before and disputed(store) == edges


def test_what_was_found_in_an_episode_is_kept_and_not_read_again_but_by_rederive(store: Store) -> None:
    ids = say(store, *TALK)
    extractor = RuleExtractor(store.runtime.settings.gate_threshold)
    read: list[str] = []

    class Watched(RuleExtractor):
        """The rules, telling which episodes they are shown."""

        def extract(self, episodes: Sequence[Episode]) -> Extraction:
            read.extend(one.id for one in episodes)
            return super().extract(episodes)

    consolidate(job(store, "first"), EVERYTHING, extractor)
    (late,) = say(store, LINTER[0], first=20)
    consolidate(job(store, "second"), EVERYTHING, Watched(store.runtime.settings.gate_threshold))
    assert read == [late]

    rederive(job(store, "third"), EVERYTHING, Watched(store.runtime.settings.gate_threshold))
    assert set(read) == {late, *ids}


def test_the_gate_reports_what_it_held_back(store: Store) -> None:
    say(store, "Hello there, good morning!", LINTER[0])

    counts = consolidate(job(store, "first"), EVERYTHING)

    assert (counts["episodes read"], counts["episodes held back by the gate"]) == (2, 1)


def test_what_passes_the_gate_and_comes_to_nothing_was_not_held_back(store: Store) -> None:
    weak = "The parser in `src/parse.py` uses the cache of `src/store.py` for the tables."
    long = "\n".join(f"{weak[:-1]} number {number}." for number in range(9))
    say(store, weak, long, "Hello there, good morning!")
    extraction = RuleExtractor(store.runtime.settings.gate_threshold).extract([episode(weak), episode(long, 1)])
    assert [one.episode for one in extraction.candidates] == ["episode-0"], "the long one passes without a candidate"

    planned = consolidate(job(store, "plan", dry_run=True), EVERYTHING)
    counts = consolidate(job(store, "first"), EVERYTHING)

    assert learned(store) == []
    for told in (planned, counts):
        assert (told["episodes read"], told["episodes held back by the gate"]) == (3, 1)


def test_what_was_read_before_is_held_back_as_it_was(store: Store) -> None:
    long = "\n".join(f"The parser in `src/parse.py` uses the cache of table number {number}." for number in range(9))
    ids = say(store, long, "Hello there, good morning!")
    extractor = RuleExtractor(store.runtime.settings.gate_threshold)

    def held_back() -> set[str]:
        run = job(store, "looks")
        bars = Bars(near=0.5, alike=0.5, around=0.4)
        evidence = EpisodeEvidence(run, PROJECT, extractor, bars)
        evidence.reached(evidence.rows)
        return {evidence.episode_of(row) for row in evidence.held_back}

    assert held_back() == held_back() == {ids[1]}


@pytest.mark.parametrize("text", ["", "."])
def test_an_empty_store_is_no_trouble(store: Store, text: str) -> None:
    if text:
        say(store, text)
    embed(store)

    assert not learned(store) and consolidate(job(store, "first"), EVERYTHING).get("memories added", 0) == 0
