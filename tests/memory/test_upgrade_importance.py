"""A model looks again at how important recent episodes are."""

from __future__ import annotations

from typing import cast

import pytest

from helix.memory.capture.episodes import EpisodeRequest, record
from helix.memory.job_run.run import Run
from helix.memory.llm.llm_reviews import upgrade_importance
from helix.model.edge import Ref
from helix.model.episode import Episode
from helix.model.provenance import Trust
from helix.providers.fakes import ScriptedModel
from helix.providers.llm import Absence
from helix.store.store import Store


def rating(value: int) -> ScriptedModel:
    return ScriptedModel(lambda question, text: {"importance": value})


def told(store: Store, content: str, **fields: object) -> Episode:
    recorded = record(store, EpisodeRequest(content=content, **fields)).episode  # type: ignore[arg-type]
    assert recorded is not None
    return recorded


def again(store: Store, episode: Episode) -> Episode:
    return cast(Episode, store.records.node(Ref.episode(episode.id)))


def upgraded(store: Store, model: ScriptedModel | None, job: str = "job-1") -> dict[str, int]:
    store.runtime.language_model = model
    return dict(upgrade_importance(Run(store, job, "upgrade_importance"), {}))


def test_a_rating_moves_what_the_rules_found_by_three_at_most(store: Store) -> None:
    episode = told(store, "We talked about the shape of the new index in src/store/index.py for a while", agent="Ana")
    assert upgraded(store, rating(10)) == {"asked": 1, "unanswered": 0, "changed": 1}
    assert again(store, episode).importance == episode.importance + 3.0
    assert upgraded(store, rating(1), "job-2") == {"asked": 0, "unanswered": 0, "changed": 0}, "once"


def test_a_rating_is_taken_as_it_is_within_that(store: Store) -> None:
    episode = told(store, "The cache was slow because of an error in the lookup")
    wanted = int(episode.importance) + 1
    upgraded(store, rating(wanted))
    assert again(store, episode).importance == wanted


def test_what_somebody_rated_stays(store: Store) -> None:
    episode = told(store, "We talked about the shape of the index for a while", importance=9.0)
    assert upgraded(store, rating(1)) == {"asked": 0, "unanswered": 0, "changed": 0}
    assert again(store, episode).importance == 9.0


def test_the_text_of_a_tool_is_never_rated_up(store: Store) -> None:
    episode = told(store, "The job wrote its report to the console in a while", trust=Trust.TOOL_OUTPUT)
    assert upgraded(store, rating(10))["changed"] == 0
    upgraded(store, rating(1), "job-2")
    assert again(store, episode).importance < episode.importance


def test_files_and_sessions_do_not_hide_that_the_rules_rated(store: Store) -> None:
    told(store, "The lookup walks the whole list each time", session="s1", agent="Ana", files=["src/a.py", "src/b.py"])
    assert upgraded(store, rating(9))["asked"] == 1


@pytest.mark.parametrize("model", [None, ScriptedModel(lambda question, text: Absence.TIMEOUT)])
def test_without_an_answer_everything_stays(store: Store, model: ScriptedModel | None) -> None:
    episode = told(store, "We talked about the shape of the index for a while")
    assert upgraded(store, model)["changed"] == 0
    assert again(store, episode) == episode


def test_a_provider_at_rest_was_not_asked(store: Store) -> None:
    told(store, "We talked about the shape of the index for a while")
    resting = ScriptedModel(lambda question, text: Absence.RESTING)
    assert upgraded(store, resting) == {"asked": 0, "unanswered": 1, "changed": 0}


def test_a_dry_run_changes_nothing(store: Store) -> None:
    episode = told(store, "We talked about the shape of the index for a while")
    store.runtime.language_model = rating(10)
    upgrade_importance(Run(store, "job-1", "upgrade_importance", dry_run=True), {})
    assert again(store, episode) == episode
