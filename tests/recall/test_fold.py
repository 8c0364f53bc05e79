"""One fact is shown once: what says less than another item is named by that item, and what mends comes first."""

from __future__ import annotations

import pytest
from recall_world import NOW, World

from helix.model.edge import Ref, Relation
from helix.model.memory import Kind
from helix.model.provenance import GIT, Provenance, Trust
from helix.model.recall import RecallAnswer, RecallQuery
from helix.model.reflection import Reflection

USER = Provenance(trust=Trust.USER_ASSERTED)
COMMIT = Provenance(extractor=GIT, trust=Trust.TOOL_OUTPUT)
ERROR = "upload fails with ConnectionReset on the staging proxy"


def mixture(*, helped: int = 3) -> World:
    """Return ten episodes of one error, what was derived of them, what says that it recurs, two fixes and a thought."""
    world = World()
    derived = world.memory("derived", ERROR, Kind.FAILURE)
    for number in range(10):
        seen = world.episode(f"seen-{number}", f"{ERROR} attempt {number} host-{number}")
        world.edge(derived, seen, Relation.GROUNDED_IN)
    systemic = world.memory("systemic", f"{ERROR} again and again", Kind.SYSTEMIC, resolution="It keeps coming back.")
    world.edge(derived, systemic, Relation.CAUSES)
    for name, times in (("guess", 0), ("proven", helped)):
        fix = world.memory(
            name,
            f"staging proxy closes idle sockets ({name})",
            Kind.PATTERN,
            resolution=f"send a keepalive every 20 seconds, says the {name}",
            helped=times,
        )
        world.edge(fix, derived, Relation.SOLVES)
    thought = world.put(
        Reflection(id="thought", question="what of uploads?", insight=f"{ERROR} often", recorded_at=NOW),
        f"{ERROR} often",
    )
    world.edge(thought, derived, Relation.CITES)
    return world


def asked(world: World, **given: object) -> RecallAnswer:
    return world.recaller().recall(RecallQuery(query=f"why {ERROR}?", **given))  # type: ignore[arg-type]


def ids(answer: RecallAnswer) -> list[str]:
    return [item.node.id for item in answer.items]


def test_a_proven_fix_stands_first_and_nothing_that_says_less_stands_beside_it() -> None:
    answer = asked(mixture())
    assert ids(answer) == ["proven", "guess"]


def test_what_was_left_out_is_named_by_what_says_it() -> None:
    told = asked(mixture()).items[0].reason
    assert "derived" in told
    assert "systemic" in told
    assert "10 episodes" in told
    assert "1 reflection" in told


def test_a_rule_of_one_sentence_goes_into_nothing_that_does_not_say_it() -> None:
    world = mixture()
    rule = world.memory("rule", "never upload to the staging proxy by hand", Kind.CONVENTION)
    world.edge(rule, Ref.memory("derived"), Relation.SOLVES)
    assert set(ids(asked(world))) == {"proven", "guess", "rule"}


@pytest.mark.parametrize("limit", range(1, 13))
def test_episodes_that_rank_behind_all_that_is_read_go_into_their_memory_too(limit: int) -> None:
    world = World()
    memory = world.memory("memory", ERROR, Kind.FAILURE, resolution="restart the proxy")
    for number in range(10):
        seen = world.episode(f"seen-{number}", f"{ERROR} attempt {number} host-{number}")
        world.edge(memory, seen, Relation.GROUNDED_IN)
    assert ids(asked(world, limit=limit)) == ["memory"]


def test_everything_shows_each_on_its_own() -> None:
    found = ids(asked(mixture(), everything=True, limit=20))
    assert {"derived", "systemic", "proven", "guess", "seen-0", "seen-9"} <= set(found)


def test_a_memory_without_a_resolution_stays_where_nothing_mends_it() -> None:
    world = World()
    world.memory("open", ERROR, Kind.FAILURE)
    world.memory("other", "the cache is cleared at midnight", resolution="by cron")
    assert "open" in ids(asked(world))


def test_a_memory_of_the_same_words_without_a_resolution_goes_into_the_one_that_has_one() -> None:
    world = World()
    world.memory("open", ERROR, Kind.FAILURE)
    world.memory("mended", f"{ERROR} and elsewhere", Kind.FAILURE, resolution="restart the proxy")
    answer = asked(world)
    assert ids(answer) == ["mended"]
    assert "also said by open" in answer.items[0].reason


def test_what_the_user_said_is_never_left_out_for_what_a_commit_or_an_agent_says() -> None:
    world = World()
    said = world.memory("said", "deploys go through make ship", Kind.CONVENTION, provenance=USER)
    world.memory("commit", "deploys go through make ship no more", resolution="use push.sh", provenance=COMMIT)
    fix = world.memory("fix", "all of shipping", Kind.PATTERN, resolution="use a rocket")
    world.edge(fix, said, Relation.SOLVES)
    answer = world.recaller().recall(RecallQuery(query="deploys go through make ship"))
    assert set(ids(answer)) == {"said", "commit", "fix"}
    assert not [item.reason for item in answer.items if "also said by" in item.reason]


def test_the_same_words_of_the_user_stand_beside_those_of_a_commit() -> None:
    world = World()
    world.memory("commit", "deploys go through make ship", importance=10.0, helped=9, provenance=COMMIT)
    world.memory("said", "deploys go through make ship", Kind.CONVENTION, importance=1.0, provenance=USER)
    assert "said" in ids(world.recaller().recall(RecallQuery(query="deploys go through make ship")))


def test_a_failure_that_caused_another_is_a_matter_of_its_own() -> None:
    world = World()
    cause = world.memory("cause", "upload proxy image was built without root certificates", Kind.FAILURE)
    effect = world.memory("effect", ERROR, Kind.FAILURE, resolution="build the image anew")
    world.edge(cause, effect, Relation.CAUSES)
    assert set(ids(asked(world))) == {"cause", "effect"}


def test_episodes_of_other_content_stay_beside_their_memory() -> None:
    world = World()
    memory = world.memory("memory", ERROR, Kind.FAILURE, resolution="restart the proxy")
    for number, text in enumerate(("the certificate of the upload proxy expired", "upload of a folder needs a slash")):
        world.edge(memory, world.episode(f"seen-{number}", text), Relation.GROUNDED_IN)
    assert set(ids(asked(world))) == {"memory", "seen-0", "seen-1"}


def test_looking_deep_shows_the_episodes_too() -> None:
    found = ids(asked(mixture(), deep=True, limit=20))
    assert sum(name.startswith("seen-") for name in found) == 10


def test_what_fits_best_stays_in_the_answer_when_a_proven_memory_of_its_matter_goes_ahead() -> None:
    world = World()
    exact = world.memory("exact", "zq417 stops the crane at the harbour", resolution="turn it off")
    for number in range(6):
        world.memory(f"crane-{number}", f"crane {number} stops at the harbour in winter", resolution="heat it")
    proven = world.memory("proven", "a crane in summer", resolution="grease it", helped=3)
    world.edge(proven, exact, Relation.SOLVES)
    answer = world.recaller().recall(RecallQuery(query="zq417 stops the crane at the harbour", limit=3))
    assert ids(answer)[:2] == ["proven", "exact"]


@pytest.mark.parametrize("limit", [3, 8, 20])
def test_many_of_one_matter_are_not_moved_past_what_the_user_said(limit: int) -> None:
    """Failures with a fix go ahead of the warning that they recur: a stranger's only as far as the user's own."""
    web = Provenance(trust=Trust.WEB)
    world = World()
    systemic = world.memory("systemic", f"{ERROR} {ERROR} again and again", Kind.SYSTEMIC, provenance=web)
    world.memory("said", ERROR, Kind.FAILURE, resolution="ask Ada first", provenance=USER)
    for number in range(9):
        text = f"{ERROR} with a token variant {number} of region-{number}"
        theirs = world.memory(f"web-{number}", text, Kind.FAILURE, resolution=f"use mirror {number}", provenance=web)
        world.edge(theirs, systemic, Relation.CAUSES)
    unfolded = ids(asked(world, everything=True, limit=20))
    found = ids(asked(world, limit=limit))
    behind = {name for name in unfolded if unfolded.index(name) > unfolded.index("said")}
    assert behind
    assert not behind & {*found[: found.index("said")]}
