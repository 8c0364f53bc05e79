"""The router over the real LiteLLM, against a scripted provider on loopback."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import chdir
from dataclasses import replace
from pathlib import Path

import pytest
from scripted_provider import GOOD, SCHEMA, YES, Reply, ScriptedProvider, fails, packed, says

from helix import settings as configuration
from helix.journal.database import Database
from helix.journal.kept_results import Answers
from helix.model.clock import system_clock
from helix.providers.choose import providers_of
from helix.providers.litellm_calls import LiteLLMCalls, ProviderCall
from helix.providers.litellm_router import Router
from helix.providers.llm import Absence, ModelQuestion, Provider
from tests.sampling import some

KEY = "sk-test-4f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c"
QUESTION = ModelQuestion(task="judge", instructions="Answer yes or no.", schema=SCHEMA, max_tokens=50)


WATCHED = """
import os, sys
from helix.providers.litellm_calls import serve


def watch(event, args):
    if event in ("socket.connect", "socket.getaddrinfo"):
        where = args[1] if event == "socket.connect" else args[0]
        print(where, "FROM_DOTENV" in os.environ, file=seen, flush=True)


seen = open(sys.argv[1], "a")
sys.addaudithook(watch)
serve()
"""
"""LiteLLM's process, which writes down whom it connects to."""

SHOWS_ITS_ENVIRONMENT = """
import json, os
input()
print("ready", flush=True)
input()
print(json.dumps({"text": json.dumps(dict(os.environ)), "absence": None, "detail": ""}), flush=True)
"""


@pytest.fixture(scope="module")
def served() -> Iterator[ScriptedProvider]:
    provider = ScriptedProvider()
    yield provider
    provider.close()


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `WATCHED` writes, in a folder with a `.env`."""
    folder = tmp_path_factory.mktemp("process")
    (folder / ".env").write_text("FROM_DOTENV=1\n", "utf-8")
    return folder / "seen"


@pytest.fixture(scope="module")
def calls(served: ScriptedProvider, seen: Path) -> Iterator[LiteLLMCalls]:
    """LiteLLM's process, started once for all tests; its first call is its slowest.

    A proxy that nobody answers at stands in its environment: what stays on this machine must not go through one.
    """
    made = LiteLLMCalls(program=(sys.executable, "-c", WATCHED, str(seen)))
    with chdir(seen.parent), pytest.MonkeyPatch.context() as patch:
        patch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
        patch.setenv("http_proxy", "http://127.0.0.1:9")
        made.ask(
            ProviderCall(
                model="openai/gpt-4o-mini",
                task="warm",
                instructions="",
                text="",
                schema=SCHEMA,
                max_tokens=1,
                seconds=60.0,
                url=f"{served.url}/v1",
            )
        )
    yield made
    made.close()


@pytest.fixture
def provider(served: ScriptedProvider) -> ScriptedProvider:
    served.forget()
    return served


@pytest.fixture
def answers(tmp_path: Path) -> Iterator[Answers]:
    database = Database(tmp_path / "journal.db")
    yield Answers(database)
    database.close()


def paid(provider: ScriptedProvider, name: str = "openai/gpt-4o-mini") -> Provider:
    return Provider(name=name, model="openai/gpt-4o-mini", free=False, secret="A_KEY", url=f"{provider.url}/v1")


def router(*providers: Provider, answers: Answers, calls: LiteLLMCalls, timeout_s: float = 20.0) -> Router:
    return Router(
        providers,
        answers,
        calls,
        clock=system_clock,
        budget=10_000,
        timeout_s=timeout_s,
        wait_s=0.01,
        secret={"A_KEY": KEY}.get,
    )


def test_an_answer_comes_back_as_an_object_with_what_it_took(
    provider: ScriptedProvider, answers: Answers, calls: LiteLLMCalls
) -> None:
    (answer,) = router(paid(provider), answers=answers, calls=calls).answer(QUESTION, ["Is it so?"])
    assert answer.value == GOOD
    assert (answer.tokens_in, answer.tokens_out, answer.model) == (100, 10, "openai/gpt-4o-mini")
    assert answer.cost == pytest.approx(100 * 0.15e-6 + 10 * 0.60e-6)
    ((path, asked, headers),) = provider.requests
    assert path == "/v1/chat/completions"
    assert headers["Authorization"] == f"Bearer {KEY}"
    asked_for = asked["response_format"]["json_schema"]["schema"]["properties"]["answers"]["items"]
    assert asked_for["properties"]["answer"] == SCHEMA
    instructions, message = (message["content"] for message in asked["messages"])
    assert instructions.startswith("Answer yes or no.\n")
    assert json.loads(message) == [{"item": 1, "text": "Is it so?"}]
    assert "litellm" not in sys.modules


@pytest.mark.parametrize(
    ("reply", "absence"),
    [
        (says("{"), Absence.BROKEN),
        (says("I think yes."), Absence.BROKEN),
        (says(None), Absence.BROKEN),
        (says('{"verdict": "ye', finish="length"), Absence.BROKEN),
        (says(packed({"verdict": "perhaps"})), Absence.MISFIT),
        (says(packed({"verdict": "yes", "more": 1})), Absence.MISFIT),
        (says(packed("yes")), Absence.MISFIT),
        (says('{"verdict": "yes"}'), Absence.MISFIT),
        (says('["yes"]'), Absence.MISFIT),
        (says(None, refusal="I cannot help with that"), Absence.REFUSED),
        (says("", finish="content_filter"), Absence.REFUSED),
        (fails(429, Retry_After="3600"), Absence.RATE_LIMITED),
        (fails(500, Retry_After="3600"), Absence.FAILED),
        (fails(503, Retry_After="3600"), Absence.FAILED),
        (fails(401), Absence.DENIED),
        (fails(404), Absence.DENIED),
        (fails(400), Absence.DENIED),
        (Reply(drop=True), Absence.UNREACHABLE),
    ],
)
def test_whatever_a_provider_does_wrong_is_an_absence_with_its_reason(
    provider: ScriptedProvider, answers: Answers, calls: LiteLLMCalls, reply: Reply, absence: Absence
) -> None:
    provider.otherwise = reply
    asked = router(paid(provider), answers=answers, calls=calls)
    (answer,) = asked.answer(QUESTION, ["Is it so?"])
    assert (answer.value, answer.absence) == (None, absence)
    usage = asked.usage()
    assert usage.absences == {absence.value: 1}
    assert [(spend.calls, spend.failures) for spend in usage.spend] == [(1, 1)]


def test_something_that_is_no_completion_is_an_absence(
    provider: ScriptedProvider, answers: Answers, calls: LiteLLMCalls
) -> None:
    for body in ("<html>", "{}", "null", "[]"):
        provider.otherwise = replace(fails(200, Retry_After="0"), body=body)
        (answer,) = router(paid(provider), answers=answers, calls=calls).answer(QUESTION, [f"Is it {body}?"])
        assert answer.value is None
        assert answer.absence in (Absence.FAILED, Absence.BROKEN, Absence.UNREACHABLE)


@pytest.mark.soak
def test_an_answer_without_an_end_and_tokens_without_number_cost_one_answer(
    provider: ScriptedProvider, answers: Answers, calls: LiteLLMCalls
) -> None:
    asked = router(paid(provider), answers=answers, calls=calls, timeout_s=120.0)
    provider.otherwise = says("a" * (2 << 20))
    (answer,) = asked.answer(QUESTION, ["Is it long?"])
    assert (answer.absence, answer.detail) == (Absence.BROKEN, "longer than 1,048,576 characters")
    provider.otherwise = Reply(flood=True)
    (answer,) = asked.answer(QUESTION, ["Is it longer?"])
    assert answer.absence in (Absence.FAILED, Absence.UNREACHABLE), "its memory ends before its time"
    assert not calls.running, "no later call is short of what this one filled"
    tokens = {"prompt_tokens": -(10**30), "completion_tokens": 10**30, "total_tokens": 1}
    provider.otherwise = Reply(body={**says(packed(GOOD)).body, "usage": tokens})
    (answer,) = router(paid(provider), answers=answers, calls=calls).answer(QUESTION, ["Is it so?"])
    assert (answer.value, answer.tokens_in, answer.tokens_out) == (GOOD, 0, 1 << 30)


def test_a_limited_rate_is_waited_for_as_long_as_the_provider_says(
    provider: ScriptedProvider, answers: Answers, calls: LiteLLMCalls
) -> None:
    provider.script.extend([fails(429, Retry_After="0"), fails(503, Retry_After="0")])
    (answer,) = router(paid(provider), answers=answers, calls=calls).answer(QUESTION, ["Is it so?"])
    assert answer.value == GOOD
    assert len(provider.requests) == 3


def test_a_provider_that_fails_hands_the_question_on(
    provider: ScriptedProvider, answers: Answers, calls: LiteLLMCalls, caplog: pytest.LogCaptureFixture
) -> None:
    provider.script.extend([says("no idea"), YES])
    first, second = paid(provider, "openai/first"), paid(provider, "openai/second")
    (answer,) = router(first, second, answers=answers, calls=calls).answer(QUESTION, ["Is it so?"])
    assert [vars(record)["trouble"] for record in caplog.records] == ["not JSON"]
    assert (answer.value, answer.model) == (GOOD, "openai/second")
    assert (answer.tokens_in, answer.tokens_out) == (200, 20), "what the failure took is counted"


@pytest.mark.parametrize("reply", some([Reply(delay=2.0), Reply(drip=True)], 1), ids=["silent", "dripping"])
def test_no_provider_holds_a_question_longer_than_the_time_limit(
    provider: ScriptedProvider, answers: Answers, calls: LiteLLMCalls, reply: Reply
) -> None:
    provider.script.append(reply)
    asked = router(paid(provider), answers=answers, calls=calls, timeout_s=0.4)
    (answer,) = asked.answer(QUESTION, ["Is it so?"])
    assert answer.absence is Absence.TIMEOUT
    assert answer.tokens_out == QUESTION.max_tokens, "it may be billed for all that it could have said"
    (again,) = router(paid(provider), answers=answers, calls=calls, timeout_s=60.0).answer(QUESTION, ["And this?"])
    assert again.value == GOOD


def test_secrets_are_taken_out_of_what_is_sent_and_keys_out_of_what_is_said(
    provider: ScriptedProvider, answers: Answers, calls: LiteLLMCalls
) -> None:
    provider.otherwise = fails(401, f"Incorrect API key provided: {KEY}")
    asked = router(paid(provider), answers=answers, calls=calls)
    asked.answer(QUESTION, [f"we set OPENAI_API_KEY={KEY} and went on"])
    ((_, request, _),) = provider.requests
    assert KEY not in json.dumps(request)
    assert "and went on" in json.dumps(request)
    assert "Incorrect API key" in asked.usage().providers[0].trouble
    assert KEY not in repr(asked.usage())


def test_ollama_is_asked_at_the_address_that_is_set(
    provider: ScriptedProvider, answers: Answers, calls: LiteLLMCalls, tmp_path: Path
) -> None:
    settings = configuration.load({"home": tmp_path}, environ={"HELIX_OLLAMA_URL": f"{provider.url}/"}, cwd=tmp_path)
    asked = Router(providers_of(settings), answers, calls, clock=system_clock, secret={}.get)
    (answer,) = asked.answer(QUESTION, ["Is it so?"])
    assert (answer.value, answer.model, answer.cost) == (GOOD, "ollama/llama3.2", 0.0)
    ((path, request, headers),) = provider.requests
    assert (path, request["model"]) == ("/v1/chat/completions", "llama3.2")
    assert headers["Authorization"] == "Bearer none"


@pytest.mark.parametrize("status", some([301, 302, 303, 307, 308], 2))
@pytest.mark.parametrize("company", ["openai", "gemini", "anthropic", "mistral"])
def test_no_redirect_is_followed(
    provider: ScriptedProvider, answers: Answers, calls: LiteLLMCalls, company: str, status: int
) -> None:
    """What a server is sent would go to an address that nobody confirmed."""
    provider.otherwise = Reply(status=status, headers={"Location": f"{provider.url}/elsewhere"}, body={})
    name = f"{company}/a-model"
    asked = router(
        Provider(name=name, model=name, free=True, secret="A_KEY", url=provider.url), answers=answers, calls=calls
    )
    (answer,) = asked.answer(QUESTION, ["Is it so?"])
    assert answer.value is None
    assert provider.requests
    assert not [path for path, *_ in provider.requests if path == "/elsewhere"]


def test_no_variable_says_where_texts_go(monkeypatch: pytest.MonkeyPatch) -> None:
    """The settings do, and `helix models confirm`."""
    foreign = ("ANTHROPIC_BASE_URL", "GEMINI_API_BASE", "GROQ_API_BASE", "AZURE_API_BASE", "LITELLM_PROXY_API_KEY")
    foreign += ("OTEL_EXPORTER_OTLP_ENDPOINT", "LANGFUSE_PUBLIC_KEY", "AWS_ENDPOINT_URL_BEDROCK_RUNTIME")
    for name in (*foreign, "SSL_CERT_FILE", "HTTPS_PROXY", "GROQ_API_KEY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    shown = LiteLLMCalls(program=(sys.executable, "-c", SHOWS_ITS_ENVIRONMENT))
    call = ProviderCall(model="m", task="t", instructions="", text="", schema=SCHEMA, max_tokens=1, seconds=60.0)
    found = json.loads(shown.ask(call).text)
    shown.close()
    assert not set(foreign) & set(found)
    assert {"SSL_CERT_FILE", "HTTPS_PROXY", "GROQ_API_KEY"} <= set(found)


def test_gemini_is_spoken_to_in_its_own_protocol(
    provider: ScriptedProvider, answers: Answers, calls: LiteLLMCalls
) -> None:
    content = {"parts": [{"text": packed(GOOD)}], "role": "model"}
    usage = {"promptTokenCount": 90, "candidatesTokenCount": 9, "totalTokenCount": 99}
    body = {"candidates": [{"content": content, "finishReason": "STOP", "index": 0}], "usageMetadata": usage}
    provider.otherwise = Reply(body=body)
    gemini = Provider(
        name="gemini/gemini-2.5-flash", model="gemini/gemini-2.5-flash", free=True, secret="A_KEY", url=provider.url
    )
    asked = router(gemini, answers=answers, calls=calls)
    (answer,) = asked.answer(QUESTION, ["Is it so?"])
    assert (answer.value, answer.tokens_in, answer.tokens_out, answer.cost) == (GOOD, 90, 9, 0.0)
    assert "answers" in provider.requests[0][1]["generationConfig"]["response_json_schema"]["properties"]
    delayed = {"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "details": [{"retryDelay": "41s"}]}}
    provider.otherwise = Reply(status=429, body=delayed)
    (limited,) = asked.answer(QUESTION, ["And this?"])
    assert limited.absence is Absence.RATE_LIMITED
    assert len(provider.requests) == 2, "41 seconds are not waited for"


def test_nobody_but_the_provider_is_ever_connected_to(calls: LiteLLMCalls, seen: Path) -> None:
    """By any test of this file, nor is a `.env` read, which LiteLLM looks for by itself."""
    lines = seen.read_text("utf-8").splitlines()
    assert lines
    assert not [line for line in lines if "127.0.0.1" not in line or not line.endswith(" False")]
