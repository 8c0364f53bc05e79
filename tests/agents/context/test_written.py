"""Holds that what a person wrote comes first in every context, and only where it fits better than chance."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from helix import settings as configuration
from helix.agents.context.notes import notes_by_user
from helix.memory.remember.request import StoreRequest
from helix.model.memory import Kind
from helix.model.provenance import Trust
from helix.operations import contexts, memories
from helix.operations.contexts import BuilderRequest
from helix.providers.fakes import HashEmbedder
from helix.service import Helix
from tests.waiting import UNHURRIED

SCOPE = "shop"
RULES = {
    "money": (Kind.CONVENTION, "Amounts of money are integers of cents, never floats of euros."),
    "queue": (Kind.DECISION, "We decided on a queue in Postgres against a broker, for one thing less to run."),
    "clock": (Kind.FACT, "The clock of the test machines is an hour behind in winter."),
}
DERIVED = ["Fix the rounding of amounts of money", "Add a page for orders", "Speed up the search for customers"]


@pytest.fixture(scope="module")
def helix(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Helix]:
    home = tmp_path_factory.mktemp("written")
    with Helix.open(configuration.load({"home": home}, environ=UNHURRIED, cwd=home), embedder=HashEmbedder()) as opened:
        for name, (kind, text) in RULES.items():
            memories.store(
                opened,
                StoreRequest(trigger=name, resolution=text, kind=kind.value, scope=SCOPE, trust=Trust.USER_ASSERTED),
            )
        for text in DERIVED:
            memories.store(
                opened, StoreRequest(trigger=text, resolution="", kind="fact", scope=SCOPE, trust=Trust.AGENT_INFERRED)
            )
        yield opened


@pytest.mark.parametrize("agent", ["explorer", "planner", "builder"])
@pytest.mark.parametrize(
    ("objective", "told"),
    [
        ("Store amounts of money in cents as integers", "money"),
        ("Choose between a queue in Postgres and a broker", "queue"),
        ("The clock of the test machines is behind", "clock"),
    ],
)
def test_every_agent_gets_the_note_of_whatever_kind_before_what_was_derived(
    helix: Helix, agent: str, objective: str, told: str
) -> None:
    asks = {
        "explorer": lambda: contexts.explorer_context(helix, objective, scope=SCOPE),
        "planner": lambda: contexts.planner_context(helix, objective, scope=SCOPE),
        "builder": lambda: contexts.builder_context(helix, BuilderRequest(objective=objective, scope=SCOPE)),
    }
    block = asks[agent]()
    assert RULES[told][1] in block.text
    assert block.injected[0] == told


def test_a_question_that_fits_something_else_much_better_gets_no_note(helix: Helix) -> None:
    assert notes_by_user(helix.store, "Speed up the search for customers", SCOPE) == ()
    assert notes_by_user(helix.store, "How are amounts of money kept: integers of cents, or floats of euros?", SCOPE)


def test_a_note_of_another_project_is_not_told(helix: Helix) -> None:
    assert (
        notes_by_user(helix.store, "Amounts of money are integers of cents, never floats of euros.", "elsewhere") == ()
    )
