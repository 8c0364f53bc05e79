"""The process that calls are sent through: time limits, its death, and its end; with a small program for LiteLLM."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress

import pytest

from helix.providers import litellm_calls
from helix.providers.litellm_calls import LiteLLMCalls, ProviderCall, ProviderReply
from helix.providers.llm import Absence
from tests.waiting import until

ECHO = """
import json, sys, time
sys.stdin.readline()
print("ready", flush=True)
for line in sys.stdin:
    text = json.loads(line)["text"]
    if text == "die":
        sys.exit(1)
    if text == "sleep":
        time.sleep(60)
    fields = {"text": text, "absence": None, "detail": "", "retry_after": None}
    print(json.dumps({**fields, "tokens_in": 1, "tokens_out": 2, "cost": 0.0, "last": text == "full"}), flush=True)
"""


@pytest.fixture
def calls() -> Iterator[LiteLLMCalls]:
    made = running(ECHO)
    yield made
    made.close()


def running(program: str, idle_s: float = 60.0) -> LiteLLMCalls:
    return LiteLLMCalls(idle_s=idle_s, program=(sys.executable, "-S", "-c", program))


def call(text: str, seconds: float = 30.0) -> ProviderCall:
    return ProviderCall(model="m", task="t", instructions="", text=text, schema={}, max_tokens=1, seconds=seconds)


def test_a_call_is_answered_by_a_process_that_starts_with_the_first(calls: LiteLLMCalls) -> None:
    assert not calls.running
    assert calls.ask(call("línea\n2")) == ProviderReply(text="línea\n2", tokens_in=1, tokens_out=2)
    assert calls.running


def test_many_calls_leave_no_threads_behind(calls: LiteLLMCalls) -> None:
    before = threading.active_count()
    for number in range(20):
        assert calls.ask(call(str(number))).text == str(number)
    until(lambda: threading.active_count() <= before + 1)


def test_half_a_reply_is_none() -> None:
    half = running("print(input() or 'ready', flush=True); print('{' + input()[:9], end='')")
    assert half.ask(call("one")).absence is Absence.FAILED
    half.close()


def test_a_process_that_dies_costs_one_call(calls: LiteLLMCalls) -> None:
    assert calls.ask(call("die")).absence is Absence.FAILED
    assert calls.ask(call("again")).text == "again"


def test_a_process_that_says_it_is_full_has_a_successor(calls: LiteLLMCalls) -> None:
    assert calls.ask(call("full")).text == "full"
    assert not calls.running
    assert calls.ask(call("again")).text == "again"


def test_a_call_that_is_not_answered_in_time_is_ended(calls: LiteLLMCalls) -> None:
    assert calls.ask(call("first")).text == "first"
    reply = calls.ask(call("sleep", seconds=-1.5))  # half a second, of which a call is given two more than its own
    assert reply.absence is Absence.TIMEOUT
    assert calls.ask(call("again")).text == "again"


def test_closing_ends_the_call_that_is_under_way(calls: LiteLLMCalls) -> None:
    calls.ask(call("first"))
    replies: list[ProviderReply] = []
    thread = threading.Thread(target=lambda: replies.append(calls.ask(call("sleep"))))
    thread.start()
    time.sleep(0.1)
    calls.close()
    thread.join(10.0)
    assert [reply.absence for reply in replies] == [Absence.STOPPED]
    assert not calls.running
    assert calls.ask(call("again")).absence is Absence.STOPPED
    assert not calls.running


def test_the_process_leaves_when_nothing_is_asked_and_comes_back() -> None:
    calls = running(ECHO, idle_s=0.05)
    try:
        assert calls.ask(call("one")).text == "one"
        until(lambda: not calls.running)
        assert calls.ask(call("two")).text == "two"
    finally:
        calls.close()


@pytest.mark.parametrize(
    ("program", "detail"),
    [
        ("print('No module named litellm')", "LiteLLM could not be loaded: No module named litellm"),
        ("raise SystemExit(1)", "LiteLLM could not be loaded: its process ended"),
    ],
)
def test_a_library_that_cannot_be_loaded_is_an_absence(program: str, detail: str) -> None:
    calls = running(program)
    reply = calls.ask(call("one"))
    calls.close()
    assert (reply.absence, reply.detail) == (Absence.FAILED, detail)


def test_what_a_process_said_is_read_though_it_has_ended_before_it_is_asked() -> None:
    program = (sys.executable, "-c", "print('why')")
    said = ""
    with suppress(BrokenPipeError), subprocess.Popen(program, stdin=-1, stdout=-1, text=True) as ended:
        ended.wait()
        said = litellm_calls._exchange(ended, "", 20)
    assert said == "why\n"


def test_a_program_that_is_not_there_is_an_absence() -> None:
    calls = LiteLLMCalls(program=("/nowhere/python",))
    assert calls.ask(call("one")).absence is Absence.FAILED
    calls.close()
