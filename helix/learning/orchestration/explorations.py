"""Explorations: what explorers found before a plan was made, kept as nodes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from helix.errors import InvalidInputError, NotFoundError
from helix.learning.contracts.explorer import KEYS, merge_explorations, read_explorer
from helix.learning.contracts.loose import fold, mapping, values, word
from helix.learning.orchestration.plans import newest_of
from helix.lifecycle.capture.sessions import is_private
from helix.lifecycle.compose import Composer
from helix.lifecycle.intake import Intake
from helix.model.edge import Label, Ref
from helix.model.exploration import Exploration
from helix.model.memory import GLOBAL_SCOPE
from helix.store.store import Store
from helix.store.writer import Decision

PARTS = ("structure", "patterns", "memory", "targets")
"""What an exploration holds beside its objective."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplorationRequest:
    """An exploration as JSON, or the answers of one or more explorers; `objective` counts where it names none."""

    answer: str
    objective: str = ""
    scope: str = GLOBAL_SCOPE
    session: str = ""


def save_exploration(store: Store, request: ExplorationRequest) -> Exploration:
    """Write an exploration; answers of explorers are put together first.

    Raises InvalidInputError where there is neither in the text.
    """
    intake = Intake(store.settings.text_limit)
    scope, session = intake.scope(request.scope), intake.label(request.session, "session")
    if is_private(store, session):
        raise InvalidInputError("nothing of a private session is kept", hint="explore without saving it")
    found = _read(request)
    kept = {name: found[name] for name in PARTS if name in found}
    objective = intake.text(word(found.get("objective")) or request.objective, "objective", required=False)
    attributes = intake.attributes(kept, store.settings.text_limit)

    def decision() -> Decision[Exploration]:
        composer = Composer(store, store.clock())
        made = Exploration(
            id=store.make_id(composer.now),
            objective=objective,
            recorded_at=composer.now,
            scope=scope,
            session=session,
            attributes=attributes,
        )
        composer.node(made)
        return Decision((composer.change("exploration"),), made)

    return store.writer.submit(decision)


def load_exploration(store: Store, ident: str = "", scope: str | None = None) -> Exploration:
    """Return an exploration by its id, or without one the newest of exactly this scope (None: of any).

    Raises NotFoundError.
    """
    ref = Ref(label=Label.EXPLORATION, id=ident.strip()) if ident else newest_of(store, Label.EXPLORATION, scope)
    if ref is None:
        raise NotFoundError("no exploration was saved yet", hint="`helix exploration save` saves what explorers answer")
    if store.catalogue.view.row_of(ref) is None:
        raise NotFoundError(f"there is no exploration {ident!r}", hint="`helix exploration load` shows the newest")
    return cast(Exploration, store.records.node(ref))


def _read(request: ExplorationRequest) -> Mapping[str, Any]:
    objects = [fold(one) for value in values(request.answer) for one in _objects(value)]
    whole = next((one for one in objects if any(mapping(one.get(name)) for name in PARTS)), None)
    if whole is not None:
        return whole
    answers = [read_explorer(word(one)) for one in objects if not one.keys().isdisjoint(KEYS)]
    if not answers:
        raise InvalidInputError(
            "there is no exploration in it",
            hint="hand in JSON with any of: " + ", ".join((*PARTS, "findings")),
        )
    return merge_explorations(answers, request.objective)


def _objects(value: object) -> list[Mapping[str, Any]]:
    given = value if isinstance(value, list) else [value]
    return [one for one in given if isinstance(one, Mapping)]
