"""The third similar failure within a week becomes systemic, once, and what follows counts on it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from helix import settings as configuration
from helix.ingest.draft import EpisodeDraft, MemoryDraft, Slice
from helix.ingest.writing import Importer
from helix.memory.capture.episodes import EpisodeRequest
from helix.memory.failures.systemic import OCCURRENCES, promote_systemic
from helix.memory.job_run.run import Run
from helix.memory.remember.request import StoreRequest
from helix.memory.worker.undo import undo
from helix.model.edge import Ref, Relation
from helix.model.memory import Kind, Memory, Status
from helix.model.provenance import GIT, Trust
from helix.model.recall import RecallQuery
from helix.operations import capture, ingest, memories, upkeep
from helix.providers.choose import embedder_for
from helix.service import Helix
from helix.store.listing import MemoryFilter
from helix.store.store import Store
from tests.memory.conftest import START, Moment
from tests.waiting import UNHURRIED

SIMILAR = (
    "upload job times out on a large file behind the proxy",
    "upload job times out with a large file behind the proxy again",
    "upload job times out for one large file behind the proxy today",
    "upload job times out on every large file behind the proxy",
)


def fail(helix: Helix, text: str, **fields: Any) -> str:
    return memories.store(
        helix, StoreRequest(trigger=text, resolution=fields.pop("resolution", ""), kind="failure", **fields)
    ).id


def systemic(helix: Helix) -> list[Memory]:
    return list(memories.memories(helix, MemoryFilter(kinds=["systemic"], any_status=True)).items)


def causes(helix: Helix, memory: Memory) -> set[str]:
    return {edge.source.id for edge in memories.edges(helix, memory.id, "causes")}


def test_the_third_similar_failure_makes_it_systemic_with_edges_and_a_note(living: Helix, moment: Moment) -> None:
    ids = []
    for text in SIMILAR[:3]:
        assert not systemic(living)
        ids.append(fail(living, text, resolution="restart the proxy"))
        moment.forward(days=2)
    (found,) = systemic(living)
    assert found.name.startswith("systemic-")
    assert "three times or more" in found.resolution
    assert "restart the proxy" in found.resolution
    assert causes(living, found) == {memory for memory in ids if memories.get(living, memory).status is Status.ACTIVE}
    assert found.attributes[OCCURRENCES] == 3
    assert len({edge.target.id for edge in memories.edges(living, found.id, "grounded_in")}) == 3
    answer = living.recall(RecallQuery(query="upload job times out", kinds=(Kind.SYSTEMIC,)))
    assert [item.node.id for item in answer.items] == [found.id]


def test_a_failure_before_all_dates_is_one_like_others(living: Helix) -> None:
    first = datetime(1, 1, 1, tzinfo=UTC)
    for text in SIMILAR[:3]:
        fail(living, text, valid_from=first)
    assert len(systemic(living)) == 1


def test_a_further_occurrence_counts_on_it_and_makes_no_second_one(living: Helix, store: Store, moment: Moment) -> None:
    for text in SIMILAR[:3]:
        fail(living, text)
    moment.forward(days=30)
    fourth = fail(living, SIMILAR[3])
    (found,) = systemic(living)
    assert (found.attributes[OCCURRENCES], fourth in causes(living, found)) == (4, True)
    assert promote_systemic(Run(store, "again", "systemic"), {}) == {}
    assert systemic(living) == [found]


def test_the_very_same_failure_three_times_is_systemic_too(living: Helix, moment: Moment) -> None:
    for day in range(3):
        moment.forward(days=day)
        same = fail(living, SIMILAR[0])
    (found,) = systemic(living)
    assert (causes(living, found), found.attributes[OCCURRENCES]) == ({same}, 3)


def test_a_failure_in_several_versions_is_one_cause_that_occurred_as_often(living: Helix) -> None:
    text = SIMILAR[0]
    for number in range(4):
        newest = fail(living, text, resolution="restart the proxy" + ", then the job" * number)
        held = {memory.id for memory in memories.memories(living, MemoryFilter(kinds=["failure"])).items}
        assert held == {newest}, "each refines the one before it"
        for found in systemic(living):
            assert causes(living, found) == {newest}
            assert found.attributes[OCCURRENCES] == number + 1
    assert len(systemic(living)) == 1


def test_what_mended_it_is_told_once_in_whatever_words_it_was_noted(living: Helix) -> None:
    for text, fix in zip(SIMILAR, ("Fixed by retrying.", "fixed it by retrying.", "Fix: retrying."), strict=False):
        fail(living, text, resolution=fix)

    (found,) = systemic(living)
    assert found.resolution.endswith("Fixed so far by: retrying.")


@pytest.mark.parametrize("gap_days", [4.0, 8.0])
def test_failures_spread_over_more_than_a_week_are_not_systemic(living: Helix, moment: Moment, gap_days: float) -> None:
    for text in SIMILAR[:3]:
        fail(living, text)
        moment.forward(days=gap_days)
    assert not systemic(living)


@pytest.mark.parametrize(
    "third",
    [
        {"text": "database migration loses a column on rollback"},
        {"text": SIMILAR[2], "scope": "another"},
        {"text": SIMILAR[2], "trust": Trust.WEB},
    ],
)
def test_what_is_another_failure_elsewhere_or_hearsay_does_not_count(living: Helix, third: dict[str, Any]) -> None:
    for text in SIMILAR[:2]:
        fail(living, text)
    fail(living, **third)
    assert not systemic(living)


def commit_slices(count: int) -> list[Slice]:
    """Return commits of this week, an hour apart, each of which tells of the same failure."""
    return [
        Slice(
            episode=EpisodeDraft(source=f"git:global:{n}", content=text, trust=Trust.TOOL_OUTPUT, occurred_at=at),
            position=n,
            memories=(
                MemoryDraft(
                    source=f"git:global:{n}",
                    kind=Kind.FAILURE,
                    trigger=text,
                    resolution="It was read too late.",
                    trust=Trust.TOOL_OUTPUT,
                    confidence=0.8,
                    valid_from=at,
                ),
            ),
        )
        for n in range(count)
        for text, at in [(f"{SIMILAR[n % 4]} number {n}", START - timedelta(hours=n))]
    ]


def test_what_a_history_says_was_mended_is_never_systemic(living: Helix, store: Store) -> None:
    importer = Importer(store, source=GIT, scope="global")
    assert importer.run(commit_slices(6), lambda _: None, lambda: False).memories == 6
    assert promote_systemic(Run(store, "one", "systemic"), {}) == {}
    fail(living, "upload job times out on a large file behind the proxy here")
    assert not systemic(living)


def test_what_was_imported_without_a_time_did_not_happen_this_week(living: Helix, store: Store) -> None:
    lines = [
        json.dumps({"trigger": text, "resolution": f"way {n}", "kind": "failure"}) for n, text in enumerate(SIMILAR)
    ]
    assert ingest.ingest_jsonl(living, lines).memories == 4
    assert promote_systemic(Run(store, "one", "systemic"), {}) == {}


@pytest.mark.parametrize(("sessions", "times"), [(("red",) * 4, 0), (("red", "blue", "blue"), 3)])
def test_a_red_test_run_again_in_a_session_is_one_occurrence(
    living: Helix, store: Store, sessions: tuple[str, ...], times: int
) -> None:
    failure = fail(living, SIMILAR[0])
    met = [
        capture.record_episode(
            living, EpisodeRequest(content=f"`pytest` failed, run {number}", session=session, role="tool")
        ).episode
        for number, session in enumerate(sessions)
    ]

    def ground(composer: Any) -> None:
        for episode in met:
            assert episode is not None
            composer.edge(Relation.GROUNDED_IN, Ref.memory(failure), Ref.episode(episode.id))

    Run(store, "ground", "test").write("one", ground)
    promote_systemic(Run(store, "one", "systemic"), {})
    assert [memory.attributes[OCCURRENCES] for memory in systemic(living)] == [times] * bool(times)


CHAIN = "upload job times out large file behind proxy while worker restarts under heavy load at night again"


def test_flushes_make_and_change_nothing_after_the_first(living: Helix, moment: Moment) -> None:
    """Each failure is like the next one, and the first is not like the last: seen from each, others belong together."""
    for number in range(8):
        fail(living, " ".join(CHAIN.split()[number : number + 9]))
        moment.forward(hours=1)
    failures(living, "npm run bundle:a,npm run bundle:b,npm run bundle:a", "Error: Cannot find module 'zod'")
    found = []
    for _ in range(3):
        living.worker.flush()
        assert living.worker.settle(60)
        found.append((upkeep.status(living).journal_rows, len(systemic(living)), upkeep.status(living).nodes))
    assert found[0][1] > 0
    assert found[1:] == found[:1] * 2
    assert not [memory.name for memory in systemic(living) if memory.name.endswith(("-2", "-3"))]


def failures(helix: Helix, commands: str, error: str) -> list[str]:
    """Let like commands fail, each with an error that names what its command does."""
    texts = [(one, error.format(one[-1])) for one in commands.split(",")]
    said = [(f"`{command}` fails: {line}", {"command": command, "error": line}) for command, line in texts]
    return [fail(helix, text, attributes=attributes) for text, attributes in said]


def test_failures_of_other_commands_with_other_errors_are_not_one(living: Helix) -> None:
    failures(living, "npm run bundle:a,npm run bundle:b,npm run bundle:c", "Error: Cannot find module '{}'")
    failures(living, "make plan-a,make plan-b,make plan-c", "Error: Invalid provider configuration")
    assert not systemic(living)


def test_one_error_that_names_its_cause_is_systemic_at_whatever_command_it_is_met(living: Helix) -> None:
    met = failures(living, "npm run bundle:a,npm run bundle:b,npm run bundle:c", "Error: Cannot find module 'zod'")
    (found,) = systemic(living)
    assert causes(living, found) == set(met)
    failures(living, "npm run bundle:a", "Error: Cannot find module 'joi'")
    assert memories.get(living, found.id).attributes[OCCURRENCES] == 3


def test_one_command_is_systemic_and_counts_what_befalls_it_alone(living: Helix) -> None:
    met = [
        *failures(living, "npm run bundle:a", "Error: Cannot find module 'zod'"),
        *failures(living, "npm run bundle:a", "Error: Cannot find module 'joi'"),
        *failures(living, "npm run bundle:b", "Error: Cannot find module 'axe'"),
        *failures(living, "npm run bundle:a", "Error: Cannot find module 'vue'"),
    ]
    (found,) = systemic(living)
    assert causes(living, found) == {met[0], met[1], met[3]}
    assert promote_systemic(Run(living.store, "again", "systemic"), {}) == {}


def test_one_that_a_person_forgot_is_not_made_again(living: Helix, moment: Moment) -> None:
    for text in SIMILAR[:3]:
        fail(living, text)
    memories.forget(living, systemic(living)[0].id)
    moment.forward(days=1)
    fail(living, SIMILAR[3])
    assert [memory.status for memory in systemic(living)] == [Status.FORGOTTEN]


def test_trust_is_never_above_the_weakest_failure(living: Helix) -> None:
    for text, trust in zip(SIMILAR, (Trust.USER_ASSERTED, Trust.TOOL_OUTPUT, Trust.AGENT_INFERRED), strict=False):
        fail(living, text, trust=trust)
    assert systemic(living)[0].provenance.trust is Trust.TOOL_OUTPUT


def test_what_a_person_confirmed_stays_theirs_when_a_tool_tells_of_the_failure_again(living: Helix) -> None:
    for text in SIMILAR[:3]:
        fail(living, text)
    memories.confirm(living, systemic(living)[0].id)
    fail(living, SIMILAR[3], trust=Trust.TOOL_OUTPUT)
    (memory,) = systemic(living)
    assert memory.attributes[OCCURRENCES] == 4
    assert memory.provenance.trust is Trust.USER_ASSERTED


def test_as_a_job_it_finds_what_came_in_otherwise_and_is_undone(living: Helix, store: Store) -> None:
    for text in SIMILAR[:3]:
        fail(living, text)
    (made,) = systemic(living)

    def drop(composer: Any) -> None:
        for memory_id in causes(living, made):
            composer.drop_edge(Relation.CAUSES, Ref.memory(memory_id), Ref.memory(made.id))
        composer.patch(Ref.memory(made.id), status=Status.RETIRED)

    Run(store, "clean", "test").write("one", drop)
    assert promote_systemic(Run(store, "dry", "systemic", dry_run=True), {"scope": "global"}) == {
        "systemic failures": 1
    }
    assert promote_systemic(Run(store, "one", "systemic"), {"scope": "elsewhere"}) == {}
    assert promote_systemic(Run(store, "one", "systemic"), {"scope": "global"}) == {"systemic failures": 1}
    assert [memory.status for memory in systemic(living)].count(Status.ACTIVE) == 1
    undo(store, "one")
    assert [memory.status for memory in systemic(living)] == [Status.RETIRED]


@pytest.fixture
def real(tmp_path: Path, models_path: Path, moment: Moment) -> Iterator[Helix]:
    home = tmp_path / "home"
    settings = configuration.load(
        {"home": home, "embedding_model": str(models_path / "bge-small-en-v1.5-int8")}, environ=UNHURRIED, cwd=tmp_path
    )
    with Helix.open(settings, embedder=embedder_for(settings).embedder, clock=moment) as service:
        yield service


def test_with_the_real_model_paraphrases_count_and_other_failures_do_not(real: Helix) -> None:
    fail(real, "TypeError: 'NoneType' object is not subscriptable in parse_config")
    fail(real, "the docker build runs out of disk space")
    fail(real, "parse_config raised a TypeError because the config was None")
    fail(real, "the login test is flaky in CI")
    assert not systemic(real)
    fail(real, "parse_config crashes with a TypeError on None")
    (found,) = systemic(real)
    assert found.attributes[OCCURRENCES] == 3
    assert {memories.get(real, memory).status for memory in causes(real, found)} == {Status.ACTIVE}


@pytest.mark.parametrize(
    ("again", "trust"),
    [
        ((Trust.USER_ASSERTED, Trust.USER_ASSERTED), Trust.USER_ASSERTED),
        ((Trust.USER_ASSERTED, Trust.TOOL_OUTPUT), Trust.TOOL_OUTPUT),
        ((Trust.TOOL_OUTPUT, Trust.USER_ASSERTED, Trust.USER_ASSERTED), Trust.TOOL_OUTPUT),
        ((Trust.AGENT_INFERRED, Trust.AGENT_INFERRED), Trust.AGENT_INFERRED),
        ((Trust.WEB, Trust.WEB, Trust.WEB), None),
        ((Trust.WEB, Trust.USER_ASSERTED, Trust.WEB), None),
    ],
)
@pytest.mark.parametrize("words", [(SIMILAR[0],) * 4, SIMILAR])
def test_that_it_recurs_is_believed_as_far_as_those_who_say_so(
    living: Helix, words: tuple[str, ...], again: tuple[Trust, ...], trust: Trust | None
) -> None:
    fail(living, words[0])
    for text, by in zip(words[1:], again, strict=False):
        fail(living, text, trust=by)
    assert [one.provenance.trust for one in systemic(living)] == ([] if trust is None else [trust])
