"""Listed: the one list of what Helix can do, from which GraphQL's fields are made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from helix.model.principal import Role

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One thing that Helix can do: `function(helix, **arguments)`, which blocks and may be called from any thread.

    `writes`: it changes the store. `asks_graph`: it waits for the graph, which answers one question at a time.
    `keyed`: it adds or counts something, and takes an idempotency key. `person` says what only a person may ask for by
    it, "" for what anybody may; `person_where` the same of an argument that is (True) or is not (False) given, and
    `person_if` of the arguments that differ from their defaults: it returns those words, and its docstring tells them.

    Where many share a server by keys, `role` is the least that may ask for it; None where nobody may by a request, as
    it names files, places or keys of the machine that serves. `scoped`: a key that is bound to scopes may ask for it,
    too, as it takes a scope, or names one memory that lies in one. `adds`: it keeps something new, and is refused where
    a tenant keeps as much as it may. The owner of a machine may do everything on it.
    """

    function: Callable[..., Any]
    role: Role | None
    scoped: bool = False
    adds: bool = False
    writes: bool = False
    asks_graph: bool = False
    keyed: bool = False
    person: str = ""
    person_where: Mapping[tuple[str, bool], str] = field(default_factory=dict)
    person_if: Callable[[Mapping[str, Any]], str] | None = None

    @property
    def name(self) -> str:
        """The name by which it is asked for."""
        return self.function.__name__


OPERATIONS: dict[str, Operation] = {}
"""Every operation by its name, in the order in which they are written down."""


def query(function: F) -> F:
    """List a function that only reads, for whoever may read."""
    return _listed(Operation(function=function, role=Role.READER), function)


def scoped_query(function: F) -> F:
    """List a function that only reads, and within a scope if need be."""
    return _listed(Operation(function=function, role=Role.READER, scoped=True), function)


def graph_query(function: F) -> F:
    """List a function that only reads, and waits for the graph."""
    return _listed(Operation(function=function, role=Role.READER, asks_graph=True), function)


def query_for(role: Role | None) -> Callable[[F], F]:
    """List a function that only reads, for nobody below this role; see `Operation`."""

    def listed(function: F) -> F:
        return _listed(Operation(function=function, role=role), function)

    return listed


def mutation(
    role: Role | None,
    *,
    scoped: bool = False,
    adds: bool = False,
    keyed: bool = False,
    person: str = "",
    person_where: Mapping[tuple[str, bool], str] | None = None,
    person_if: Callable[[Mapping[str, Any]], str] | None = None,
) -> Callable[[F], F]:
    """List a function that changes the store, for nobody below this role; see `Operation`."""

    def listed(function: F) -> F:
        made = Operation(
            function=function,
            role=role,
            scoped=scoped,
            adds=adds,
            writes=True,
            keyed=keyed,
            person=person,
            person_where=dict(person_where or {}),
            person_if=person_if,
        )
        return _listed(made, function)

    return listed


def _listed(operation: Operation, function: F) -> F:
    if operation.name in OPERATIONS:
        raise TypeError(f"two operations are called {operation.name}")
    OPERATIONS[operation.name] = operation
    return function
