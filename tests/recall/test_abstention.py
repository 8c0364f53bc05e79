"""An answer ends where the rest is filler, and nothing is an answer; `everything` fills it up to its limit."""

from __future__ import annotations

from recall_world import World

from helix.model.edge import Relation
from helix.model.memory import Kind
from helix.model.recall import RecallAnswer, RecallQuery
from helix.recall.abstention import ANSWERED, JUDGED_FROM

PLACES = ("harbour", "tunnel", "bridge", "station", "airport", "market", "library", "museum", "stadium", "orchard")
THINGS = ("crane", "gate", "signal", "engine", "ladder", "window")
ELSEWHERE = "which enzyme inhibits mitochondrial respiration during hypoxia?"


def town(count: int = 60) -> World:
    world = World()
    for number in range(count):
        place, thing = PLACES[number % len(PLACES)], THINGS[number // len(PLACES) % len(THINGS)]
        world.memory(f"{place}-{thing}", f"the {thing} at the {place} is painted every spring", resolution="by hand")
    return world


def asked(world: World, query: str, **given: object) -> RecallAnswer:
    return world.recaller().recall(RecallQuery(query=query, **given))  # type: ignore[arg-type]


def test_a_question_about_nothing_in_the_store_is_answered_with_nothing() -> None:
    answer = asked(town(), ELSEWHERE)
    assert answer.items == ()
    assert any("nothing fits" in note for note in answer.notes)


def test_everything_fills_the_answer_up_to_its_limit() -> None:
    assert len(asked(town(), ELSEWHERE, everything=True, limit=7).items) == 7


def test_what_is_asked_for_is_kept() -> None:
    answer = asked(town(), "when is the crane at the harbour painted?")
    assert answer.items[0].node.id == "harbour-crane"


def test_a_limit_binds_what_fits_too() -> None:
    assert len(asked(town(), "what is painted at the harbour every spring?", limit=2).items) == 2


def test_what_answers_by_itself_stands_out_and_the_rest_does_not() -> None:
    items = asked(town(), "when is the crane at the harbour painted?", limit=60).items
    assert [item.stands_out for item in items] == [item.fit >= ANSWERED for item in items]
    assert items[0].stands_out
    assert not all(item.stands_out for item in items), "some only fit better than by chance"
    assert all(item.stands_out for item in asked(town(), ELSEWHERE, everything=True).items)


def test_a_small_store_is_not_judged() -> None:
    assert asked(town(JUDGED_FROM - 10), ELSEWHERE).items


def test_what_a_file_points_at_is_kept_whatever_the_words() -> None:
    world = town()
    memory = world.memory("pointed", "ask the harbour master first")
    world.edge(memory, world.entity("src/enzymes.py"), Relation.TOUCHES)
    assert [item.node.id for item in asked(world, ELSEWHERE, files=("src/enzymes.py",)).items] == ["pointed"]


def test_what_mends_is_shown_however_little_of_the_question_it_says() -> None:
    world = town()
    failure = world.memory("failure", "zq417 stops the crane at the harbour", Kind.FAILURE)
    world.edge(world.memory("fix", "grease", resolution="as its manual tells"), failure, Relation.SOLVES)
    assert [item.node.id for item in asked(world, "zq417 stops the crane at the harbour").items][:1] == ["fix"]
