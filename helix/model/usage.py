"""Usage: what language models were asked, what they answered, and what it cost; as counted, kept and shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated

NO_KEY, OVER_BUDGET, NOT_CONFIRMED, NOT_INSTALLED = "no key", "over budget", "not confirmed", "not installed"
"""What stands in the state of a provider that nobody has set up, that may not be paid for, or whose address is not this
machine's and not confirmed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSpend:
    """What one provider's model took in one month (`2026-03`, UTC): calls, how many of them failed, tokens, US dollars.

    Calls that were never answered count with what they may have cost at most in tokens, and with no dollars.
    """

    month: Annotated[str, "The month, such as `2026-03`."]
    provider: Annotated[str, "The model."]
    calls: Annotated[int, "Calls."] = 0
    failures: Annotated[int, "Calls that failed."] = 0
    tokens_in: Annotated[int, "Tokens sent."] = 0
    tokens_out: Annotated[int, "Tokens received."] = 0
    cost: Annotated[float, "US dollars."] = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptAnswer:
    """An answer in the cache: the model that gave it, its JSON text, and what it took when it was given."""

    model: str
    answer: str
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderState:
    """How one provider stands: `ready`, or why it is not asked; and how its last call failed, where it did.

    `place` is the address that texts for it go to.
    """

    model: Annotated[str, "The model, as LiteLLM names it."]
    free: Annotated[bool, "Whether it counts as free, by the setting `free_models`."]
    ready: Annotated[bool, "Whether it may be asked now."]
    state: Annotated[str, "How it stands."]
    place: Annotated[str, "The address that texts for it go to; a hosted provider's name where it is unknown."] = ""
    trouble: Annotated[str, "How its last call failed; empty where it did not."] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelUsage:
    """Everything that status and metrics tell of language models, at one moment.

    `budget` and `paid_tokens` are tokens of paid providers in this month. `spend` is kept in the store; `calls`,
    `cache_hits` and `absences` (questions without an answer, by reason) count since the service was started.
    """

    budget: Annotated[int, "Tokens of a month that may be paid for; 0 forbids paying."]
    paid_tokens: Annotated[int, "Tokens of this month that count towards the budget."]
    providers: Annotated[tuple[ProviderState, ...], "The models that may be asked, in order."] = ()
    spend: Annotated[tuple[ModelSpend, ...], "What they took, by month and model."] = ()
    calls: Annotated[int, "Calls since the daemon started."] = 0
    cache_hits: Annotated[int, "Questions answered from the cache since then."] = 0
    absences: Annotated[Mapping[str, int], "Questions without an answer since then, by reason."] = field(
        default_factory=dict
    )

    @property
    def standing(self) -> str:
        """How language models stand, in a line: ready, none configured, over budget or resting; with what was spent."""
        keyed = [one for one in self.providers if not one.state.startswith(NO_KEY)]
        if any(one.ready for one in keyed):
            stands = "ready"
        elif not keyed:
            stands = "none configured, all is done by rules"
        elif all(one.state.startswith(NOT_INSTALLED) for one in keyed):
            stands = "LiteLLM is not installed, all is done by rules"
        elif all(one.state.startswith(NOT_CONFIRMED) for one in keyed):
            stands = "an address waits to be confirmed, all is done by rules"
        elif all(OVER_BUDGET in one.state for one in keyed):
            stands = "over budget, all is done by rules"
        else:
            stands = "none answers now, all is done by rules"
        return f"{stands}; {self.paid_tokens:,} of {self.budget:,} paid tokens used this month"
