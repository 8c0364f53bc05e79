"""A name that hardly anything else holds brings what holds it into the first five, whatever the vectors say."""

from __future__ import annotations

import pytest
from recall_world import DIMENSION, World

from helix.model.edge import Relation
from helix.model.operations import PutPassage
from helix.model.recall import RecallQuery
from helix.providers.fakes import HashEmbedder
from helix.text.rare import rare_names

QUESTION = "what did we change about upload retries in the staging proxy after {}?"


def crowd() -> World:
    """Return forty memories that say nearly what the question does, and one that holds the name and little else."""
    world = World()
    for number in range(40):
        world.memory(
            f"near-{number}", f"we changed upload retries in the staging proxy after round {'x' * (number + 1)}"
        )
    return world


@pytest.mark.parametrize("name", ["#4711", "E10054", "ERR_CERT_OLD", "retryAfterHeader", "`eventfd`"])
def test_what_alone_holds_a_name_is_among_the_first_five(name: str) -> None:
    world = crowd()
    world.memory("holder", f"the nightly job of the billing team was moved to another queue, see {name}")
    items = world.recaller().recall(RecallQuery(query=QUESTION.format(name))).items
    assert "holder" in [item.node.id for item in items[:5]]
    assert "name that you gave" in next(item for item in items if item.node.id == "holder").reason


def test_a_memory_and_the_episode_it_is_grounded_in_are_one_holder() -> None:
    world = crowd()
    holder = world.memory("holder", "the nightly billing job was moved, see #4711")
    for number in range(2):
        episode = world.episode(f"told-{number}", f"moved the nightly billing job because of #4711, part {number}")
        world.edge(holder, episode, Relation.GROUNDED_IN)
    items = world.recaller().recall(RecallQuery(query=QUESTION.format("#4711"))).items
    assert "holder" in [item.node.id for item in items[:5]]


def test_what_alone_holds_the_name_that_is_all_of_the_question_comes_first() -> None:
    world = World()
    nearest = HashEmbedder(DIMENSION).embed(["#4711"])[0].tobytes()  # to a model, one ticket is much like another
    for number in range(40):
        owner = world.episode(f"near-{number}")
        world.operations.append(PutPassage(id=f"x{number}", number=100 + number, owner=owner, text="", vector=nearest))
        world.texts[100 + number] = ""
    world.episode("holder", "the nightly job of the billing team was moved to another queue, see #4711")
    assert world.recaller().recall(RecallQuery(query="#4711")).items[0].node.id == "holder"


def test_a_name_that_many_hold_moves_nothing() -> None:
    world = crowd()
    for number in range(6):
        world.memory(f"holder-{number}", f"billing job number {'y' * (number + 1)} moved, see #4711")
    items = world.recaller().recall(RecallQuery(query=QUESTION.format("#4711"))).items
    assert not any("name that you gave" in item.reason for item in items)


def test_plain_words_and_years_are_no_names() -> None:
    assert rare_names("Why did the Upload fail in 2023 after a well-known change?") == ()
    assert rare_names("see #12, HTTPServer.close() and lib/http.c") == ("12", "httpserver_close", "lib_http_c")
