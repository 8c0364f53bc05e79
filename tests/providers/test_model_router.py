"""The router's rules: order, budget, cache, spend and rest; with scripted replies in place of LiteLLM's process."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helix import settings as configuration
from helix.errors import ConfigError
from helix.journal.database import Database
from helix.journal.kept_results import Answers
from helix.providers.choose import providers_of
from helix.providers.litellm_calls import ProviderCall, ProviderReply
from helix.providers.litellm_router import Router
from helix.providers.llm import Absence, ModelQuestion, Provider
from tests.sampling import draws

GOOD = {"verdict": "yes"}
SCHEMA = {"type": "object", "properties": {"verdict": {"enum": ["yes", "no"]}}, "required": ["verdict"]}
QUESTION = ModelQuestion(task="judge", instructions="Answer.", schema=SCHEMA, max_tokens=100)
FREE = Provider(name="gemini/flash", model="gemini/flash", free=True, secret="FREE_KEY")
PAID = Provider(name="openai/mini", model="openai/mini", free=False, secret="PAID_KEY")
KEYS = {"FREE_KEY": "f", "PAID_KEY": "p"}


def yes(call: ProviderCall) -> ProviderReply:
    """Answer every item of a call."""
    answers = [{"item": item["item"], "answer": GOOD} for item in json.loads(call.text)]
    return ProviderReply(text=json.dumps({"answers": answers}), tokens_in=100, tokens_out=10, cost=0.5)


@dataclass
class ScriptedCalls:
    """Replies to calls by model, and keeps what was asked."""

    replies: dict[str, ProviderReply | Callable[[ProviderCall], ProviderReply]] = field(default_factory=dict)
    asked: list[ProviderCall] = field(default_factory=list)
    closed: bool = False

    def ask(self, call: ProviderCall) -> ProviderReply:
        self.asked.append(call)
        reply = self.replies.get(call.model, yes)
        return reply if isinstance(reply, ProviderReply) else reply(call)

    def close(self) -> None:
        self.closed = True

    @property
    def models(self) -> list[str]:
        return [call.model for call in self.asked]


class Wall:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = datetime(2026, 3, 30, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def pass_(self, **fields: float) -> None:
        self.now += timedelta(**fields)


@pytest.fixture
def calls() -> ScriptedCalls:
    return ScriptedCalls()


@pytest.fixture
def wall() -> Wall:
    return Wall()


@pytest.fixture
def answers(tmp_path: Path) -> Iterator[Answers]:
    database = Database(tmp_path / "journal.db")
    yield Answers(database)
    database.close()


def router(
    calls: ScriptedCalls, answers: Answers, wall: Wall, *providers: Provider, budget: int = 0, keys: object = None
) -> Router:
    secret = (KEYS if keys is None else dict(keys)).get  # type: ignore[call-overload]
    return Router(
        providers or (FREE, PAID),
        answers,
        calls,
        clock=wall,
        budget=budget,
        wait_s=0.0,
        secret=secret,
        may_be_asked=lambda place: True,
    )


def test_the_free_tier_is_asked_first_and_alone_while_it_answers(
    calls: ScriptedCalls, answers: Answers, wall: Wall
) -> None:
    (answer,) = router(calls, answers, wall, budget=10_000).answer(QUESTION, ["one"])
    assert (answer.value, answer.model, answer.cost) == (GOOD, "gemini/flash", 0.0)
    assert calls.models == ["gemini/flash"]


def test_a_budget_of_nothing_forbids_every_paid_call(calls: ScriptedCalls, answers: Answers, wall: Wall) -> None:
    calls.replies["gemini/flash"] = ProviderReply(absence=Absence.REFUSED)
    asked = router(calls, answers, wall, budget=0)
    (answer,) = asked.answer(QUESTION, ["one"])
    assert (answer.value, answer.absence) == (None, Absence.REFUSED)
    assert calls.models == ["gemini/flash"]
    (alone,) = router(calls, answers, wall, PAID).answer(QUESTION, ["one"])
    assert alone.absence is Absence.BUDGET
    assert calls.models == ["gemini/flash"]
    assert asked.usage().providers[1].state == "over budget: it is paid, and monthly_token_budget is 0"
    assert asked.usage().standing == "ready; 0 of 0 paid tokens used this month"
    alone_in_it = router(calls, answers, wall, PAID).usage().standing
    assert alone_in_it == "over budget, all is done by rules; 0 of 0 paid tokens used this month"
    assert not router(calls, answers, wall, PAID).available


def test_without_litellm_nothing_is_asked_and_the_answer_says_what_to_install(
    calls: ScriptedCalls, answers: Answers, wall: Wall
) -> None:
    bare = Router((FREE, PAID), answers, calls, clock=wall, secret={FREE.secret: "k"}.get, missing="install it")
    (answer,) = bare.answer(QUESTION, ["one"])
    assert (answer.value, answer.absence, answer.detail) == (None, Absence.NO_PROVIDER, "install it")
    assert (calls.models, bare.available) == ([], False)
    assert bare.usage().providers[0].state == "not installed: install it"
    assert bare.usage().standing.startswith("LiteLLM is not installed, all is done by rules")


@settings(deadline=None, max_examples=draws(12))
@given(budget=st.integers(0, 3_000), questions=st.integers(1, 12))
def test_paid_tokens_never_exceed_the_budget(
    tmp_path_factory: pytest.TempPathFactory, budget: int, questions: int
) -> None:
    database = Database(tmp_path_factory.mktemp("budget") / "journal.db")
    calls, wall = ScriptedCalls(), Wall()
    asked = router(calls, Answers(database), wall, PAID, budget=budget)
    asked.answer(QUESTION, [f"question {number}" for number in range(questions)])
    usage = asked.usage()
    assert usage.paid_tokens <= budget
    assert usage.paid_tokens == 110 * len(calls.asked)
    database.close()


def test_a_new_month_has_a_new_budget(calls: ScriptedCalls, answers: Answers, wall: Wall) -> None:
    asked = router(calls, answers, wall, PAID, budget=500)
    assert [answer.absence for answer in asked.answer(QUESTION, ["one", "two", "three"])] == [
        None,
        Absence.BUDGET,
        Absence.BUDGET,
    ]
    wall.pass_(days=2)
    (answer,) = asked.answer(QUESTION, ["two"])
    assert answer.value == GOOD
    assert [(spend.month, spend.calls, spend.cost) for spend in asked.usage().spend] == [
        ("2026-04", 1, 0.5),
        ("2026-03", 1, 0.5),
    ]


def test_answers_and_spend_survive_a_restart(calls: ScriptedCalls, tmp_path: Path, wall: Wall) -> None:
    database = Database(tmp_path / "journal.db")
    router(calls, Answers(database), wall, PAID, budget=500).answer(QUESTION, ["one"])
    database.close()
    database = Database(tmp_path / "journal.db")
    asked = router(calls, Answers(database), wall, PAID, budget=500)
    kept, other = asked.answer(QUESTION, ["one", "two"])
    assert (kept.value, kept.cached, kept.tokens_in, kept.cost) == (GOOD, True, 0, 0.0)
    assert other.absence is Absence.BUDGET
    assert len(calls.asked) == 1
    assert (asked.usage().paid_tokens, asked.usage().cache_hits) == (110, 1)
    database.close()


def test_the_cache_knows_an_answer_by_everything_it_was_asked_with(
    calls: ScriptedCalls, answers: Answers, wall: Wall
) -> None:
    asked = router(calls, answers, wall, FREE)
    asked.answer(QUESTION, ["one", "one"])
    assert len(calls.asked) == 1
    for other in (
        ModelQuestion(task="judge", instructions="Answer!", schema=SCHEMA, max_tokens=100),
        ModelQuestion(task="judge", instructions="Answer.", schema={**SCHEMA, "additionalProperties": False}),
        ModelQuestion(task="judge", instructions="Answer.", schema=SCHEMA, max_tokens=101),
    ):
        before = len(calls.asked)
        asked.answer(other, ["one"])
        assert len(calls.asked) == before + 1
    router(calls, answers, wall, Provider(name="gemini/flash", model="gemini/flash-2", free=True)).answer(
        QUESTION, ["one"]
    )
    assert len(calls.asked) == 5
    assert answers.clear() == 5
    asked.answer(QUESTION, ["one"])
    assert len(calls.asked) == 6


def test_texts_that_may_share_a_call_do_and_are_kept_one_by_one(
    calls: ScriptedCalls, answers: Answers, wall: Wall
) -> None:
    asked = router(calls, answers, wall, PAID, budget=10_000)
    together = replace(QUESTION, batch=3)
    answered = asked.answer(together, ["one", "two", "one", "three", "four"])
    assert [answer.value for answer in answered] == [GOOD] * 5
    assert [len(json.loads(call.text)) for call in calls.asked] == [3, 1]
    assert [call.max_tokens for call in calls.asked] == [300, 100]
    assert [answer.tokens_in for answer in answered] == [33, 33, 33, 34, 100]
    assert asked.usage().paid_tokens == 220
    asked.answer(together, ["three", "five", "one"])
    assert [json.loads(call.text) for call in calls.asked[2:]] == [[{"item": 1, "text": "five"}]]


def test_what_one_provider_leaves_out_the_next_is_asked(calls: ScriptedCalls, answers: Answers, wall: Wall) -> None:
    calls.replies["gemini/flash"] = ProviderReply(text=json.dumps({"answers": [{"item": 2, "answer": GOOD}]}))
    answered = router(calls, answers, wall, budget=10_000).answer(replace(QUESTION, batch=9), ["one", "two", "three"])
    assert [answer.model for answer in answered] == ["openai/mini", "gemini/flash", "openai/mini"]
    assert [item["text"] for item in json.loads(calls.asked[1].text)] == ["one", "three"]


def test_only_answers_that_fit_are_kept(calls: ScriptedCalls, answers: Answers, wall: Wall) -> None:
    calls.replies["gemini/flash"] = ProviderReply(text='{"answers": [{"item": 1, "answer": {"verdict": "perhaps"}}]}')
    asked = router(calls, answers, wall, FREE)
    asked.answer(QUESTION, ["one"])
    calls.replies["gemini/flash"] = yes
    assert asked.answer(QUESTION, ["one"])[0].value == GOOD


def test_the_cache_is_bounded_and_the_oldest_go(calls: ScriptedCalls, tmp_path: Path, wall: Wall) -> None:
    database = Database(tmp_path / "journal.db")
    asked = router(calls, Answers(database, most_kept=2), wall, FREE)
    for text in ("one", "two", "three"):
        asked.answer(QUESTION, [text])
        wall.pass_(seconds=1)
    asked.answer(QUESTION, ["three", "two"])
    assert len(calls.asked) == 3
    asked.answer(QUESTION, ["one"])
    assert len(calls.asked) == 4
    database.close()


def test_a_dead_provider_rests_and_keeps_nobody_waiting(calls: ScriptedCalls, answers: Answers, wall: Wall) -> None:
    calls.replies["gemini/flash"] = ProviderReply(absence=Absence.TIMEOUT)
    asked = router(calls, answers, wall, FREE)
    answered = asked.answer(QUESTION, [f"question {number}" for number in range(20)])
    assert len(calls.asked) == 3
    assert [answer.absence for answer in answered] == [Absence.TIMEOUT] * 3 + [Absence.RESTING] * 17
    state = asked.usage().providers[0]
    assert (state.ready, state.state, state.trouble) == (False, "rests until 12:01:00 UTC", "timed out")
    for minutes, calls_by_then in ((1, 4), (1, 4), (1, 5), (4, 6)):  # one try, then twice as long a rest
        wall.pass_(minutes=minutes)
        asked.answer(QUESTION, ["another"])
        assert len(calls.asked) == calls_by_then
    wall.pass_(hours=1)
    calls.replies["gemini/flash"] = yes
    assert asked.answer(QUESTION, ["another"])[0].value == GOOD
    assert asked.usage().providers[0].state == "ready"


def test_a_rest_is_never_longer_than_an_hour(calls: ScriptedCalls, answers: Answers, wall: Wall) -> None:
    calls.replies["gemini/flash"] = ProviderReply(absence=Absence.RATE_LIMITED, retry_after=1e6)
    asked = router(calls, answers, wall, FREE)
    for _ in range(40):
        asked.answer(QUESTION, ["one"])
        wall.pass_(hours=1)
    assert len(calls.asked) == 40


def test_a_clock_that_is_set_back_ends_a_rest(calls: ScriptedCalls, answers: Answers, wall: Wall) -> None:
    calls.replies["gemini/flash"] = ProviderReply(absence=Absence.DENIED)
    asked = router(calls, answers, wall, FREE)
    asked.answer(QUESTION, ["one"])
    assert not asked.usage().providers[0].ready
    wall.pass_(days=-2_000)
    assert asked.usage().providers[0].ready


def test_no_secret_that_a_model_answers_is_kept(calls: ScriptedCalls, answers: Answers, wall: Wall) -> None:
    token = "ghp_" + "s9GqT2vLx7RmWc4KbZ1nYd8HfPj3AeUo5iVw"  # made up
    question = replace(QUESTION, schema={"type": "object", "properties": {"verdict": {"type": "string"}}})
    calls.replies["gemini/flash"] = lambda call: replace(yes(call), text=yes(call).text.replace("yes", token))
    asked = router(calls, answers, wall, FREE)
    for _ in range(2):
        (answer,) = asked.answer(question, ["one"])
        assert token not in str(answer) and "REDACTED" in str(answer.value)


def test_a_refused_text_says_nothing_of_the_provider(calls: ScriptedCalls, answers: Answers, wall: Wall) -> None:
    calls.replies["gemini/flash"] = ProviderReply(absence=Absence.REFUSED, detail="no")
    asked = router(calls, answers, wall, FREE)
    asked.answer(QUESTION, [f"question {number}" for number in range(9)])
    assert len(calls.asked) == 9
    assert asked.usage().absences == {"refused": 9}


def test_without_a_key_nobody_is_asked(calls: ScriptedCalls, answers: Answers, wall: Wall) -> None:
    asked = router(calls, answers, wall, keys={"FREE_KEY": ""}, budget=10_000)
    (answer,) = asked.answer(QUESTION, ["one"])
    assert answer.absence is Absence.NO_PROVIDER
    assert not calls.asked
    assert not asked.available
    assert [state.state for state in asked.usage().providers] == [
        "no key: FREE_KEY is not set",
        "no key: PAID_KEY is not set",
    ]


def test_a_closed_router_asks_no_more(calls: ScriptedCalls, answers: Answers, wall: Wall) -> None:
    asked = router(calls, answers, wall)
    asked.close()
    assert calls.closed
    assert asked.answer(QUESTION, ["one"])[0].value is None
    assert not calls.asked


def loaded(tmp_path: Path, **variables: str) -> tuple[Provider, ...]:
    environ = {f"HELIX_{name.upper()}": value for name, value in variables.items()}
    return providers_of(configuration.load({"home": tmp_path}, environ=environ, cwd=tmp_path))


def test_by_default_gemini_comes_first_and_free_and_ollama_waits_for_its_address(tmp_path: Path) -> None:
    assert [(provider.name, provider.free, provider.secret) for provider in loaded(tmp_path)] == [
        ("gemini/gemini-2.5-flash", True, "GEMINI_API_KEY"),
        ("openai/gpt-4o-mini", False, "OPENAI_API_KEY"),
    ]
    ollama = loaded(tmp_path, ollama_url="http://10.0.0.7:11434/v1/")[1]
    assert (ollama.name, ollama.model, ollama.free) == ("ollama/llama3.2", "openai/llama3.2", True)
    assert (ollama.secret, ollama.url) == ("", "http://10.0.0.7:11434/v1")


def test_what_is_free_is_what_the_setting_says(tmp_path: Path) -> None:
    gemini, openai = loaded(tmp_path, free_models="openai/*", openai_url="http://127.0.0.1:1234/v1")
    assert (gemini.free, openai.free) == (False, True)
    assert (openai.secret, openai.url) == ("", "http://127.0.0.1:1234/v1")


def test_a_model_without_its_provider_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="gpt-4o-mini"):
        loaded(tmp_path, models="gpt-4o-mini")


@pytest.mark.parametrize(
    "variables",
    [{"monthly_token_budget": "-1"}, {"model_timeout_s": "0"}, {"heuristic_confidence_cutoff": "1.5"}],
)
def test_settings_out_of_range_are_refused(tmp_path: Path, variables: dict[str, str]) -> None:
    with pytest.raises(ConfigError):
        loaded(tmp_path, **variables)
