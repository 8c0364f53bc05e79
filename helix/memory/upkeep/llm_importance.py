"""The job that has a language model look again at how important recent episodes are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from helix.memory.change.compose import Composer
from helix.memory.jobs.run import Run
from helix.memory.llm.ask import IMPORTANCE, Tally, importances
from helix.memory.scores import importance_of
from helix.model.edge import Label, Ref
from helix.model.episode import Episode
from helix.model.provenance import Trust

_MOST = 200
_FURTHEST = 3.0
"""How far a model moves what the rules found: it may be talked into anything by a text, and must not drown the rest."""
_LONGEST = 1_500
_BELIEVED = Trust.AGENT_INFERRED.rank


def upgrade_importance(run: Run, payload: Mapping[str, Any]) -> Mapping[str, int]:
    """Have the store's language model rate the newest episodes; return what came of it.

    `payload`: `scope` (None: every scope), `limit` (200). What was consolidated is not new. Only importance that Helix
    found by rules is changed, by 3 at most, once: what somebody gave, and what was upgraded before, stays. A text of a
    tool or of the web is never rated up. Where the model has no answer, everything stays as it is. `asked` counts the
    episodes that a provider was sent, `unanswered` those without an answer.
    """
    changed = 0
    model = None if run.language_model is None else Tally(run.language_model)
    episodes = _ruled(run, payload.get("scope"), int(payload.get("limit") or _MOST)) if model is not None else []
    for start in range(0, len(episodes), IMPORTANCE.batch):
        if run.cancelled or model is None:
            break
        batch = episodes[start : start + IMPORTANCE.batch]
        ratings = importances(model, [episode.content[:_LONGEST] for episode in batch])
        if not any(rating is not None for rating in ratings):
            break  # nobody answers now; the next run asks again
        better = {
            episode.id: value
            for episode, rating in zip(batch, ratings, strict=True)
            if rating is not None and (value := _bounded(episode, rating)) != episode.importance
        }
        if better:
            read = {episode.id: episode.importance for episode in batch}
            changed += run.write(f"importance {min(better)}", _rating(run, read, better)) or 0
        run.progress(start + len(batch), len(episodes), "rating episodes")
    run.count("episodes rated", changed)
    asked, unanswered = (model.asked, model.unanswered) if model is not None else (0, 0)
    return {"asked": asked, "unanswered": unanswered, "changed": changed}


def _ruled(run: Run, scope: str | None, limit: int) -> list[Episode]:
    """Return the newest episodes not consolidated yet, those of them whose importance is what the rules make of it."""
    index = run.store.index
    rows = index.newest(index.findable_episodes(scope) - index.consolidated(), limit)
    episodes = [cast(Episode, node) for node in index.nodes(rows)]
    return [
        episode
        for episode, mentions in zip(episodes, index.mentions_of(rows), strict=True)
        if episode.importance == importance_of(episode.content, mentions)
    ]


def _bounded(episode: Episode, rating: float) -> float:
    highest = 10.0 if episode.provenance.trust.rank <= _BELIEVED else episode.importance
    return min(highest, episode.importance + _FURTHEST, max(episode.importance - _FURTHEST, rating))


def _rating(run: Run, read: Mapping[str, float], better: Mapping[str, float]) -> Callable[[Composer], int]:
    def compose(composer: Composer) -> int:
        refs = [Ref(label=Label.EPISODE, id=episode) for episode in better]
        untouched = [
            ref
            for ref, node in zip(refs, run.store.records.nodes(refs), strict=True)
            if cast(Episode, node).importance == read[ref.id]  # nobody has rated it since it was read
        ]
        for ref in untouched:
            composer.patch(ref, importance=better[ref.id])
        return len(untouched)

    return compose
