"""Explorations: what explorers found before a plan was made, kept as nodes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from helix.agents.answers.explorer_answer import KEYS, beside_json, merge_explorations, read_explorers
from helix.agents.answers.loose_json import mapping, mappings, values, word
from helix.agents.tasks.exclusion import NOT_KEPT, exclusion_of
from helix.agents.tasks.plans import newest_of
from helix.errors import InvalidInputError, NotFoundError
from helix.memory.capture.sessions import is_private
from helix.memory.change.compose import Composer
from helix.memory.change.intake import Intake
from helix.model.edge import Label, Ref
from helix.model.memory import GLOBAL_SCOPE
from helix.model.task import Exploration, ExplorationReport
from helix.store.index import StoreIndex
from helix.store.store import Store
from helix.store.writer import Decision
from helix.text.excerpts import shortened

PARTS = ("structure", "patterns", "memory", "targets")
"""What an exploration holds beside its objective."""
_TOLD = 160
"""Characters of an answer that are told again at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplorationRequest:
    """An exploration as JSON, or the answers of one or more explorers; `objective` counts where it names none."""

    answer: str
    objective: str = ""
    scope: str = GLOBAL_SCOPE
    session: str = ""


def save_exploration(store: Store, request: ExplorationRequest) -> ExplorationReport:
    """Save explorers' findings for plans of tasks as a node; answers are merged first, what is excluded is told.

    Raises InvalidInputError where there is neither in the text, or nothing in them.
    """
    intake = Intake(store.runtime.settings.text_limit)
    scope, session = intake.scope(request.scope), intake.session(request.session)
    if is_private(store.journal, session):
        raise InvalidInputError("nothing of a private session is kept", hint="explore without saving it")
    found, problems = _parse_exploration(request, intake)
    told = {name: found[name] for name in PARTS if name in found}
    objective = intake.text(word(found.get("objective")) or request.objective, "objective", required=False)
    said = {"objective": objective, **intake.attributes(told, store.runtime.settings.text_limit)}
    kept = exclusion_of(store.runtime.settings.home, scope).without(said)
    problems += [NOT_KEPT] if kept != said else []
    objective, attributes = kept.pop("objective"), kept

    def decision() -> Decision[Exploration]:
        composer = Composer(store, store.runtime.clock())
        made = Exploration(
            id=composer.new_id(),
            objective=objective,
            recorded_at=composer.now,
            scope=scope,
            session=session,
            attributes=attributes,
        )
        composer.node(made)
        return Decision((composer.change("exploration"),), made)

    return ExplorationReport(exploration=store.writer.submit(decision), problems=tuple(dict.fromkeys(problems)))


def load_exploration(index: StoreIndex, ident: str = "", scope: str = GLOBAL_SCOPE) -> Exploration:
    """Return an exploration for plans of tasks by its id, or without one the newest of exactly this scope.

    Raises NotFoundError.
    """
    ref = Ref(label=Label.EXPLORATION, id=ident.strip()) if ident else newest_of(index, Label.EXPLORATION, scope)
    if ref is None:
        raise NotFoundError(
            f"no exploration was saved yet in {scope}", hint="`helix exploration save` saves what explorers answer"
        )
    if ref not in index:
        raise NotFoundError(f"there is no exploration {ident!r}", hint="`helix exploration load` shows the newest")
    return cast(Exploration, index.records.node(ref))


def _parse_exploration(request: ExplorationRequest, intake: Intake) -> tuple[Mapping[str, Any], list[str]]:
    """Return the exploration that a text comes to, and in sentences what of the text is not in it."""
    objects = [one for value in values(request.answer) for one in mappings(value)]
    wholes = [one for one in objects if any(mapping(one.get(name)) for name in PARTS)]
    answers = () if wholes else read_explorers(request.answer)
    found = wholes[0] if wholes else merge_explorations(answers, request.objective)
    if not any(_says(found.get(name)) for name in PARTS):
        raise InvalidInputError(
            "there is nothing that was explored in it",
            hint="hand in JSON with any of: " + ", ".join((*PARTS, "findings")),
        )
    problems = [
        f"excluded, as it is not JSON: {_cleaned_excerpt(piece, intake)}" for piece in beside_json(request.answer)
    ]
    if len(wholes) > 1 or (wholes and len(objects) > 1):
        problems.append("excluded: all but the first exploration; hand in one, or the answers of explorers")
    if any(one.keys().isdisjoint((*KEYS, *PARTS)) for one in objects):
        problems.append("excluded: JSON with none of: " + ", ".join(KEYS))
    for place, answer in enumerate(answers, start=1):
        whose = f"answer {place}: " if len(answers) > 1 else ""
        problems += [f"{whose}{_cleaned_excerpt(problem, intake)}" for problem in answer.problems]
        if answer.is_empty:
            problems.append(f"{whose}nothing was found")
    return found, problems


def _says(value: object) -> bool:
    """Return whether anything stands in a value, however deep."""
    if isinstance(value, Mapping):
        return any(_says(item) for item in value.values())
    return any(_says(item) for item in value) if isinstance(value, list | tuple) else value not in (None, "")


def _cleaned_excerpt(text: str, intake: Intake) -> str:
    return intake.text(shortened(text, _TOLD), "answer", required=False)
