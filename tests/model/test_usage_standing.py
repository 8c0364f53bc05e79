"""How language models stand is told in one line, whatever their number."""

from __future__ import annotations

import pytest

from helix.model.usage import ModelUsage, ProviderState

READY = ProviderState(model="a/free", free=True, ready=True, state="ready")
RESTS = ProviderState(model="b/free", free=True, ready=False, state="rests until 10:00:00 UTC")
KEYLESS = ProviderState(model="c/paid", free=False, ready=False, state="no key: C_KEY is not set")
SPENT = ProviderState(model="d/paid", free=False, ready=False, state="over budget")


@pytest.mark.parametrize(
    ("providers", "stands"),
    [
        ((), "none configured, "),
        ((KEYLESS,), "none configured, "),
        ((KEYLESS, READY, SPENT), "ready; "),
        ((KEYLESS, SPENT), "over budget, "),
        ((SPENT, RESTS), "none answers now, "),
    ],
)
def test_the_line_says_how_they_stand_and_what_is_spent(providers: tuple[ProviderState, ...], stands: str) -> None:
    standing = ModelUsage(budget=5_000, paid_tokens=1_234, providers=providers).standing
    assert standing.startswith(stands)
    assert standing.endswith("; 1,234 of 5,000 paid tokens used this month")
