"""Documents of all kinds are answered as by graphql-core's own executor: data, errors and the order of fields."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncGenerator
from enum import Enum
from typing import Any, cast

import pytest
import strawberry
from graphql import GraphQLError, GraphQLSchema, get_named_type

from helix.api.schema import Executor, mark_shown
from tests.sampling import some

DOCUMENTS = 20
"""For each seed."""


@strawberry.enum
class Mood(Enum):
    GOOD = "good"
    BAD = "bad"


@strawberry.interface
class Named:
    id: strawberry.ID
    word: str | None


class Faulty:
    """Stands for one of the schema's objects, of which some attributes are missing, of another type, or raise."""

    def __init__(self, **held: Any) -> None:
        self.__dict__.update(held)

    def __getattr__(self, name: str) -> Any:
        if name == "share":
            raise KeyError("share")  # as a property that fails does
        raise AttributeError(name)


@strawberry.type
class Leaf(Named):
    number: int
    share: float | None
    mood: Mood | None
    marks: list[int | None]

    @classmethod
    def is_type_of(cls, value: object, _info: object) -> bool:
        return isinstance(value, Leaf) or getattr(value, "kind", "") == "leaf"


@strawberry.type
class Twig(Named):
    leaves: list[Leaf]
    some: list[Leaf | None]
    perhaps: list[Leaf | None] | None
    nested: list[list[Leaf]]
    first: Leaf | None
    sure: Leaf

    @classmethod
    def is_type_of(cls, value: object, _info: object) -> bool:
        return isinstance(value, Twig) or getattr(value, "kind", "") == "twig"

    @strawberry.field
    def times(self, by: int = 2) -> int | None:
        if by == 4:
            raise ValueError("four")
        return by

    @strawberry.field
    async def later(self, by: int = 1) -> list[Leaf]:
        await asyncio.sleep(0)
        return self.leaves * (by % 3)

    @strawberry.field
    def any(self) -> list[Named]:
        return [*self.leaves, self]


@strawberry.type
class Query:
    @strawberry.field
    def twig(self, info: strawberry.Info) -> Twig:
        return cast(Twig, twig(info.context["seed"]))

    @strawberry.field
    async def twigs(self, info: strawberry.Info, by: int = 2) -> list[Twig] | None:
        return [twig(info.context["seed"] + one) for one in range(by)]

    @strawberry.field
    def named(self, info: strawberry.Info) -> Named | None:
        return cast(Leaf, leaf(random.Random(info.context["seed"])))


@strawberry.type
class Subscription:
    @strawberry.subscription
    async def grown(self, info: strawberry.Info) -> AsyncGenerator[Twig, None]:
        for one in range(3):
            yield twig(info.context["seed"] + one)


def leaf(chance: random.Random) -> Any:
    held: dict[str, Any] = {
        "id": strawberry.ID(str(chance.randint(1, 99))),
        "word": chance.choice(["a", "b", None]),
        "number": chance.randint(0, 9),
        "share": chance.choice([0.5, None]),
        "mood": chance.choice([Mood.GOOD, Mood.BAD, None]),
        "marks": [chance.choice([1, None]) for _ in range(chance.randint(0, 2))],
    }
    if chance.random() < 0.8:
        return Leaf(**held)
    name = chance.choice([*held])
    held[name] = chance.choice([None, {}, "no", 2**40, float("nan"), ValueError("told"), []])
    if chance.random() < 0.5:
        del held[name]
    return Faulty(kind=chance.choice(["leaf", "leaf", "other"]), **held)


def twig(seed: int) -> Any:
    chance = random.Random(seed)

    def leaves() -> list[Any]:
        return [leaf(chance) for _ in range(chance.randint(0, 3))]

    return Twig(
        id=strawberry.ID(str(seed)),
        word=chance.choice(["t", None]),
        leaves=leaves(),
        some=[chance.choice([one, None]) for one in leaves()],
        perhaps=cast(Any, chance.choice([None, leaves(), tuple(leaves())])),
        nested=[leaves() for _ in range(chance.randint(0, 2))],
        first=chance.choice([None, leaf(chance)]),
        sure=leaf(chance),
    )


class Writer:
    """Writes documents by chance."""

    def __init__(self, schema: GraphQLSchema, chance: random.Random) -> None:
        self._schema, self._chance = schema, chance

    def document(self, operation: str) -> str:
        root = self._schema.subscription_type if operation == "subscription" else self._schema.query_type
        assert root is not None
        asked = self._fields(root, 3) if operation == "query" else "{ grown " + self._of("Twig", 3) + " }"
        parts = {
            name: f" fragment Of{name} on {name} {{ ... @include(if: $no) {{ word }} id {self._inner(name, 1)} }}"
            for name in ("Twig", "Leaf")
        }
        asked += "".join(part for name, part in parts.items() if f"...Of{name}" in asked)
        taken = {"yes": "Boolean = true", "no": "Boolean = false", "given": "Int = 3"}
        head = ", ".join(f"${name}: {kind}" for name, kind in taken.items() if f"${name}" in asked)
        return f"{operation} Asked{f'({head})' if head else ''} {asked}"

    def _of(self, name: str, depth: int) -> str:
        kind = self._schema.type_map[name]
        return self._fields(kind, depth)

    def _fields(self, kind: Any, depth: int) -> str:
        return "{ " + self._inner(kind.name, depth, spread=True) + " }"

    def _inner(self, name: str, depth: int, *, spread: bool = False) -> str:
        chance, kind = self._chance, self._schema.type_map[name]
        written = ["__typename" if chance.random() < 0.5 else "also: __typename"]
        fields: dict[str, Any] = kind.fields  # type: ignore[attr-defined]  # of objects and interfaces
        for _ in range(chance.randint(1, 5)):
            key = chance.choice([*fields])
            inner = get_named_type(fields[key].type)
            if hasattr(inner, "fields") and depth < 1:
                continue
            given = f"(by: {chance.choice(['0', '1', '4', '$given'])})" if fields[key].args else ""
            alias = f"{key}{chance.randint(0, 2)}: " if given or chance.random() < 0.3 else ""
            below = f" {self._fields(inner, depth - 1)}" if hasattr(inner, "fields") else ""
            written.append(f"{alias}{key}{given}{self._when()}{below}")
        if spread and name in ("Twig", "Leaf"):
            written.append(chance.choice(["", f"...Of{name}{self._when()}", "... on Named { word }"]))
        if spread and name == "Named":
            on = chance.choice(["Twig", "Leaf"])
            written.append(chance.choice([f"...Of{on}", f"... on {on} {{ {self._inner(on, depth - 1)} }}"]))
        chance.shuffle(written)
        return " ".join(written)

    def _when(self) -> str:
        return self._chance.choice(["", "", "", " @include(if: $yes)", " @skip(if: $no)", " @skip(if: $yes)"])


def told(data: Any, errors: list[GraphQLError] | None) -> tuple[str, list[tuple[str, str, str]]]:
    said = [(str(error.path), error.message, str(error.locations)) for error in errors or ()]
    return json.dumps(data, default=str), sorted(said)


async def answers(schema: strawberry.Schema, document: str, seed: int) -> list[Any]:
    context = {"seed": seed}
    if document.startswith("query"):
        result = await schema.execute(document, context_value=context)
        return [told(result.data, result.errors)]
    stream = await schema.subscribe(document, context_value=context)
    return [told(one.data, one.errors) async for one in stream]


@pytest.mark.parametrize("operation", ["query", "subscription"])
@pytest.mark.parametrize("seed", some(range(4), 2))
def test_documents_are_answered_as_by_the_plain_executor(operation: str, seed: int) -> None:
    parts: dict[str, Any] = {"query": Query, "subscription": Subscription, "types": [Leaf, Twig]}
    plain = strawberry.Schema(**parts)
    marked = strawberry.Schema(**parts, execution_context_class=Executor)
    mark_shown(marked._schema)
    writer = Writer(plain._schema, random.Random(f"{operation} {seed}"))

    async def compare() -> int:
        answered = 0
        for one in range(DOCUMENTS):
            document = writer.document(operation)
            usual = await answers(plain, document, 1000 * seed + one)
            assert await answers(marked, document, 1000 * seed + one) == usual, document
            answered += any(data != "null" for data, _ in usual)
        return answered

    assert asyncio.run(compare()) > DOCUMENTS / 4
