"""Insights say what holds and belongs together: nothing that ended, no questions, and no bare list about one name."""

from __future__ import annotations

from datetime import timedelta

import pytest

from helix.memory.extraction.consolidation import consolidate
from helix.memory.insight.insights import insight_tree, reflections
from helix.memory.insight.reflect import reflect
from helix.memory.job_run.run import Run
from helix.model.edge import Ref
from helix.model.reflection import Reflection
from helix.store.store import Store
from tests.memory.conftest import Moment
from tests.memory.saying import PROJECT, job, learned, say

VANTAGE = (
    "Remember: Vantage loads the parcels with 4 workers.",
    "Vantage crashed with 'OutOfMemoryError' while loading the parcels; fixed by raising the heap to 4 GB.",
    "We decided to restart Vantage after the parcels are loaded.",
    "Remember: Vantage needs the parcels schema.",
)


def night(store: Store, name: str) -> dict[str, object]:
    consolidate(job(store, f"consolidate {name}"), {"scope": PROJECT})
    return dict(reflect(Run(store, f"reflect {name}", "reflect"), {"scope": PROJECT}))


def standing(store: Store) -> list[Reflection]:
    return list(reflections(store, PROJECT).items)


def ends(store: Store, moment: Moment, words: str, *, after: bool) -> None:
    """Let the memory with these words hold until now, or (`after` False) on."""
    (memory,) = (one for one in learned(store) if words in one.trigger)
    until = moment() - timedelta(seconds=1) if after else None
    ref = Ref.memory(memory.id)
    Run(store, f"end {words} {after}", "test").write("one", lambda composer: composer.patch(ref, valid_to=until))


def test_what_ended_is_said_no_more_and_what_is_left_is_reflected_on_anew(store: Store, moment: Moment) -> None:
    say(store, *VANTAGE)
    night(store, "one")
    (before,) = standing(store)
    assert "4 workers" in before.insight
    ends(store, moment, "4 workers", after=True)
    assert night(store, "two") == {"reflections weighed anew": 1, "reflections added": 1}
    (after,) = standing(store)
    assert "4 workers" not in after.insight and "parcels" in after.insight
    assert [one.stands for one in insight_tree(store, before.id).evidence].count(False) == 1
    assert night(store, "three") == {} and standing(store) == [after]


def test_what_holds_again_does_not_bring_the_same_insight_back_twice(store: Store, moment: Moment) -> None:
    say(store, *VANTAGE)
    night(store, "one")
    ends(store, moment, "4 workers", after=True)
    night(store, "two")
    (after,) = standing(store)
    ends(store, moment, "4 workers", after=False)
    night(store, "three")
    assert standing(store) == [after]


def test_an_insight_says_what_was_learned_rather_than_how_somebody_said_it(store: Store) -> None:
    say(store, *VANTAGE)
    night(store, "one")
    (insight,) = standing(store)
    assert "Remember" not in insight.insight and "user:" not in insight.insight
    assert any(memory.trigger.rstrip(".") in insight.insight for memory in learned(store))


@pytest.mark.parametrize(
    "question", ["Could Vantage load the parcels at night?", "Marta asked whether Vantage loads the parcels at night."]
)
def test_a_question_is_no_statement_of_an_insight_and_no_evidence(store: Store, question: str) -> None:
    say(store, *VANTAGE, question)
    night(store, "one")
    (insight,) = standing(store)
    assert "night" not in insight.insight
    assert all("night" not in cited.text for cited in insight_tree(store, insight.id).evidence)


def test_statements_that_share_no_more_than_a_name_are_no_insight(store: Store) -> None:
    say(
        store,
        "Remember: Vantage listens on port 8443.",
        "We decided to give Vantage the host orca-2.",
        "Vantage has a blue logo on its first page.",
        "The contract for Vantage ends in March.",
    )
    night(store, "one")
    assert standing(store) == []


def test_what_does_not_belong_is_left_out_of_an_insight_about_what_does(store: Store) -> None:
    say(store, *VANTAGE, "Remember: Vantage listens on port 8443.")
    night(store, "one")
    (insight,) = standing(store)
    assert "8443" not in insight.insight and len(insight_tree(store, insight.id).evidence) == len(VANTAGE)
