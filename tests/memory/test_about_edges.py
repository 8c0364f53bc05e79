"""What is written is linked more strongly to the entity that its opening is about than to those that it mentions."""

from __future__ import annotations

from helix.memory.capture.episodes import EpisodeRequest
from helix.memory.change.compose import ABOUT
from helix.model.edge import Ref, Relation
from helix.operations import capture
from helix.service import Helix
from helix.store.store import Store

TEXT = (
    "Demon Dice\nDemon Dice, originally published as Chaos Progenitus, is a game by Lester Smith. "
    "Lester Smith also made Dragon Dice."
)


def test_an_episode_is_linked_most_strongly_to_its_subject(living: Helix, store: Store) -> None:
    recorded = capture.record_episode(living, EpisodeRequest(content=TEXT))
    assert recorded.episode is not None
    view = store.catalogue.view
    row = view.row_of(Ref.episode(recorded.episode.id))
    assert row is not None
    found = store.projection.snapshot.neighbours([row], Relation.MENTIONS)
    weights = {view.name_of(other): weight for other, weight in zip(found.rows.tolist(), found.weights, strict=True)}
    assert weights["Demon Dice"] == weights["Chaos Progenitus"] == ABOUT
    assert weights["Lester Smith"] == weights["Dragon Dice"] == 1.0
