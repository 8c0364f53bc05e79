"""The seam to language models: a question with a JSON schema goes in, an object that fits comes out, or why none."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

from helix.providers.addresses import hosted_place, origin_of


class Absence(StrEnum):
    """Why there is no answer; whoever asked takes the deterministic path."""

    NO_PROVIDER = "no provider"
    BUDGET = "over budget"
    RESTING = "resting after failures"
    TIMEOUT = "timed out"
    RATE_LIMITED = "rate limited"
    UNREACHABLE = "unreachable"
    FAILED = "provider failed"
    DENIED = "denied"
    REFUSED = "refused"
    BROKEN = "not JSON"
    MISFIT = "does not fit the schema"
    STOPPED = "stopped"


UNSENT = frozenset({Absence.NO_PROVIDER, Absence.BUDGET, Absence.RESTING})
"""Why a text was not sent to any provider."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelQuestion:
    """What is asked of each text: a task's name, instructions, the JSON schema of the answer, and its longest length.

    `batch` is how many texts may share one call. Each is still answered, and kept, by itself.
    """

    task: str
    instructions: str
    schema: Mapping[str, Any]
    max_tokens: int = 500
    batch: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The answer to one text: an object that fits the schema, or None and the reason (`absence`, `detail`).

    Tokens and US dollars are what it took now; all are 0 where it was `cached`.
    """

    value: Mapping[str, Any] | None = None
    absence: Absence | None = None
    detail: str = ""
    model: str = ""
    cached: bool = False
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = 0.0

    @property
    def sent(self) -> bool:
        """Whether a provider was sent the text for this answer, be it in vain; what was kept needs none."""
        return not self.cached and self.absence not in UNSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """One model of one provider. `name` is the one in the settings, `model` is LiteLLM's.

    `secret` is the environment variable of its key, empty where none is needed. A `free` one may be asked whatever the
    budget, and nothing that it answers counts towards it.
    """

    name: str
    model: str
    free: bool
    secret: str = ""
    url: str = ""

    @property
    def place(self) -> str:
        """Where texts for it go: an address as it is shown, or the name of a hosted provider with an unknown one."""
        return origin_of(self.url) if self.url else hosted_place(self.name.partition("/")[0])


class LanguageModel(Protocol):
    """Answers questions about texts. One call is safe from any thread."""

    def answer(self, question: ModelQuestion, texts: Sequence[str]) -> list[Answer]:
        """Return one answer for each text, in their order; failures of a provider are absences, never errors.

        A text is data: what it says is never part of the instructions. Secrets are taken out of it before it is sent.
        """
        ...


def read(text: str) -> object:
    """Return the JSON value that a language model's text is, or BROKEN.

    A code fence around it is taken off: models that were not made to answer in JSON put one there.
    """
    body = text.strip()
    if body.startswith("```") and body.endswith("```"):
        body = body.removeprefix("```").removeprefix("json").removesuffix("```")
    try:
        value: object = json.loads(body, parse_constant=_no_json)
        json.dumps(value, ensure_ascii=False).encode()  # half a character, written as an escape, cannot be kept
    except (ValueError, RecursionError):
        return Absence.BROKEN
    return value


def _no_json(constant: str) -> object:
    """Refuse NaN and the infinities, which Python reads and JSON does not have."""
    raise ValueError(constant)


def fits_schema(value: object, schema: Mapping[str, Any]) -> bool:
    """Return whether a language model's answer is valid under the JSON schema (draft 2020-12)."""
    from jsonschema import Draft202012Validator  # a tenth of a second that only whoever has a model pays

    return bool(Draft202012Validator(schema).is_valid(value))
