"""LiteLLM in a process of its own: one call goes in, one reply comes out, and no call lasts longer than it may.

LiteLLM takes three seconds to load, holds the interpreter for a tenth of a second at a time while it does, and then
fills 150 MB. In a process of its own it keeps no recall waiting, its memory is given back when nothing was asked for a
while, and a provider that sends a byte a minute can be ended.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, TextIO

from helix.memory_limit import limit_memory, reserved_bytes
from helix.processes import NEUTRAL_FOLDER, environment, python_command
from helix.providers.llm import Absence
from helix.text.excerpts import head

_START_S = 120.0
_IDLE_S = 60.0
_GRACE_S = 2.0
_DETAIL = 240
_MEMORY_BYTES = 768 << 20
"""Memory of the process, of which LiteLLM takes a quarter: a server may answer without an end.

Python may keep what such an answer filled, and the next call has none. So a process ends that has half of it reserved.
"""
_LONGEST_ANSWER, _MOST_TOLD = 1 << 20, 4_000
_MOST_TOKENS = 1 << 30
_PROGRAM = tuple(python_command("helix.providers.litellm_calls"))
ENVIRONMENT = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",  # else prices are asked of the network when it is loaded
    "LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS": "True",
    "LITELLM_LOCAL_AUTOROUTER_PRESETS": "True",
    "LITELLM_LOCAL_BLOG_POSTS": "True",
    "LITELLM_LOCAL_POLICY_TEMPLATES": "True",
    "LITELLM_MODE": "PRODUCTION",  # else it reads a .env file: keys come from the environment alone
    "LITELLM_LOG": "CRITICAL",
    "AWS_EC2_METADATA_DISABLED": "true",  # else boto3 asks the machine's cloud for keys
}
"""What keeps LiteLLM to itself: it asks nobody but the provider, reads no file of settings, and logs no texts."""
_FOREIGN = re.compile(r"LITELLM_.*|.*_(?:BASE|HOST|URL|ENDPOINT|TRACING\w*)|AWS_ENDPOINT_.*|OTEL_.*|LANGFUSE_.*")
"""Variables by which LiteLLM would send calls, or reports on them, elsewhere than the settings say."""

_ABSENCES = {
    "Timeout": Absence.TIMEOUT,
    "RateLimitError": Absence.RATE_LIMITED,
    "ContentPolicyViolationError": Absence.REFUSED,
    "APIConnectionError": Absence.UNREACHABLE,
    "ServiceUnavailableError": Absence.FAILED,
    "BadGatewayError": Absence.FAILED,
    "InternalServerError": Absence.FAILED,
    "BadRequestError": Absence.DENIED,
    "AuthenticationError": Absence.DENIED,
    "PermissionDeniedError": Absence.DENIED,
    "NotFoundError": Absence.DENIED,
}

_RETRY_DELAY = re.compile(r'"retryDelay": ?"([\d.]+)s"')


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderCall:
    """One request to one provider. `model` is LiteLLM's name for it; `seconds` is the longest that it may take."""

    model: str
    task: str
    instructions: str
    text: str
    schema: Mapping[str, Any]
    max_tokens: int
    seconds: float
    key: str = ""
    url: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderReply:
    """What came of a call: a text, or the reason for none with a sentence on it. `retry_after` is in seconds."""

    text: str = ""
    absence: Absence | None = None
    detail: str = ""
    retry_after: float | None = None
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = 0.0


class LiteLLMCalls:
    """Sends calls through LiteLLM, one at a time, in a process that starts with the first and leaves when idle."""

    def __init__(self, *, idle_s: float = _IDLE_S, program: Sequence[str] = _PROGRAM) -> None:
        """`idle_s` is how long the process stays after its last call; `program` is what runs in it (see `main`)."""
        self._idle_s = idle_s
        self._program = program
        self._process: subprocess.Popen[str] | None = None
        self._turn = threading.Lock()
        self._closed = False
        self._leaving: threading.Timer | None = None
        self._asked = 0

    @property
    def running(self) -> bool:
        """Whether there is a process of LiteLLM now."""
        return self._process is not None

    def ask(self, call: ProviderCall) -> ProviderReply:
        """Send a call to a language model and return its reply; whatever fails is a reply with a reason."""
        with self._turn:
            reply = self._sent(call)
            if self._leaving is not None:
                self._leaving.cancel()
            self._asked += 1
            self._leaving = _after(self._idle_s, partial(self._leave, self._asked))
            return reply

    def close(self) -> None:
        """End the process of LiteLLM, and the call that it is at; later calls are not sent."""
        self._closed = True
        process = self._process
        if process is not None:
            process.kill()
        with self._turn:
            self._end()

    def _sent(self, call: ProviderCall) -> ProviderReply:
        if self._process is None and not self._closed and (trouble := self._start()):
            return ProviderReply(absence=Absence.FAILED, detail=trouble)
        process = self._process
        if self._closed or process is None:
            return ProviderReply(absence=Absence.STOPPED)
        begun = time.monotonic()
        line = _exchange(process, json.dumps(asdict(call)), call.seconds + _GRACE_S)
        if line:
            fields = json.loads(line)
            if fields.pop("last", False):
                self._end()
            return _reply(fields)
        self._end()
        if self._closed:
            return ProviderReply(absence=Absence.STOPPED)
        if time.monotonic() - begun >= call.seconds:
            return ProviderReply(absence=Absence.TIMEOUT, detail=f"nothing within {call.seconds:g} s")
        return ProviderReply(absence=Absence.FAILED, detail="LiteLLM's process ended")

    def _start(self) -> str:
        """Start the process; return why it could not be."""
        without = [name for name in os.environ if _FOREIGN.fullmatch(name)]
        try:
            self._process = subprocess.Popen(
                self._program,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,  # what it says there may hold keys and texts
                cwd=NEUTRAL_FOLDER,
                env=environment(without=without, given={**ENVIRONMENT, **_unproxied()}),
                text=True,
            )
        except OSError as error:
            return f"LiteLLM's process could not be started: {error}"
        hello = _exchange(self._process, "", _START_S)
        if hello.strip() == "ready":
            return ""
        self._end()
        return f"LiteLLM could not be loaded: {hello.strip() or 'its process ended'}"

    def _leave(self, asked: int) -> None:
        """End the process unless more was asked since."""
        with self._turn:
            if asked == self._asked:
                self._end()

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()


def missing() -> str:
    """Return what keeps calls to LiteLLM from being sent, and what to do; empty where it is installed."""
    if importlib.util.find_spec("litellm") is not None:
        return ""
    return "install helix-memory[litellm] in Helix's place (docs/install.md), then `helix stop`"


def _unproxied() -> dict[str, str]:
    """Return the variables that keep calls to this machine from going through a proxy on another one."""
    direct = os.environ.get("no_proxy") or os.environ.get("NO_PROXY") or ""
    hosts = ",".join(filter(None, (direct, "localhost,127.0.0.1,::1")))
    return {"NO_PROXY": hosts, "no_proxy": hosts}


def _exchange(process: subprocess.Popen[str], line: str, seconds: float) -> str:
    """Write a line and return the next one; empty where none came in time, and the process is ended then."""
    assert process.stdin is not None and process.stdout is not None
    limit = _after(seconds, process.kill)
    try:
        with suppress(OSError):  # a process that has ended may have said why
            process.stdin.write(f"{line}\n")
            process.stdin.flush()
        answer = process.stdout.readline()
    except OSError:
        return ""
    finally:
        limit.cancel()
    return answer if answer.endswith("\n") else ""  # half a line is what a process leaves that is ended while it writes


def _after(seconds: float, work: Callable[[], object]) -> threading.Timer:
    """Do the work in so many seconds, in a thread that keeps no program from ending."""
    timer = threading.Timer(seconds, work)
    timer.daemon = True
    timer.start()
    return timer


def _reply(fields: Mapping[str, Any]) -> ProviderReply:
    absence = fields["absence"]
    detail = head(" ".join(fields["detail"].split()), _DETAIL)
    return ProviderReply(**{**fields, "absence": None if absence is None else Absence(absence), "detail": detail})


def complete(litellm: Any, call: ProviderCall) -> ProviderReply:
    """Send one call to a language model through the loaded LiteLLM."""
    answer_format = {"name": call.task, "schema": dict(call.schema), "strict": True}
    try:
        response = litellm.completion(
            model=call.model,
            messages=[{"role": "system", "content": call.instructions}, {"role": "user", "content": call.text}],
            response_format={"type": "json_schema", "json_schema": answer_format},
            max_tokens=call.max_tokens,
            temperature=0,
            reasoning_effort="disable" if call.model.startswith("gemini/") else None,
            timeout=call.seconds,
            max_retries=0,
            num_retries=0,
            drop_params=True,
            api_key=call.key or "none",
            api_base=call.url or None,
        )
        return _reply_of(litellm, call, response)
    except Exception as error:  # the outermost boundary of this process: LiteLLM passes on whatever it met
        return _failure(error)


def _reply_of(litellm: Any, call: ProviderCall, response: Any) -> ProviderReply:
    usage = getattr(response, "usage", None)
    tokens_in, tokens_out = (
        min(max(int(getattr(usage, f"{part}_tokens", 0) or 0), 0), _MOST_TOKENS) for part in ("prompt", "completion")
    )
    took: dict[str, Any] = {
        "tokens_in": tokens_in,
        "tokens_out": tokens_out,
        "cost": _cost(litellm.model_cost, call.model, tokens_in, tokens_out),
    }
    choice = response.choices[0]
    refusal = (choice.message.provider_specific_fields or {}).get("refusal")
    if refusal or choice.finish_reason == "content_filter":
        detail = str(refusal or "held back by the provider's filter")[:_MOST_TOLD]
        return ProviderReply(absence=Absence.REFUSED, detail=detail, **took)
    if choice.finish_reason == "length":
        return ProviderReply(absence=Absence.BROKEN, detail=f"cut off after {call.max_tokens} tokens", **took)
    text = choice.message.content or ""
    if len(text) > _LONGEST_ANSWER:
        return ProviderReply(absence=Absence.BROKEN, detail=f"longer than {_LONGEST_ANSWER:,} characters", **took)
    return ProviderReply(text=text, **took)


def _cost(prices: Mapping[str, Mapping[str, Any]], model: str, tokens_in: int, tokens_out: int) -> float:
    """Return US dollars by LiteLLM's own price list; 0 for a model that is not in it."""
    price = prices.get(model) or prices.get(model.partition("/")[2]) or {}
    per_in, per_out = (float(price.get(f"{part}_cost_per_token") or 0.0) for part in ("input", "output"))
    return tokens_in * per_in + tokens_out * per_out


def _failure(error: Exception) -> ProviderReply:
    names = [kind.__name__ for kind in type(error).__mro__]
    absence = next((_ABSENCES[name] for name in names if name in _ABSENCES), Absence.FAILED)
    if absence is Absence.FAILED and "Connection error" in str(error):
        absence = Absence.UNREACHABLE  # LiteLLM calls it a server's error when there is no server
    return ProviderReply(absence=absence, detail=f"{names[0]}: {error}"[:_MOST_TOLD], retry_after=_retry_after(error))


def _retry_after(error: Exception) -> float | None:
    """Return the seconds after which a provider wants to be asked again, by its header or (Gemini) its message."""
    headers = getattr(error, "litellm_response_headers", None) or {}
    told = headers.get("retry-after") or next(iter(_RETRY_DELAY.findall(str(error))), "")
    try:
        return max(0.0, float(told))
    except ValueError:
        return None


def _stay_at_the_address() -> None:
    """Have no client of this process follow a redirect: texts and keys go to the confirmed address and no further."""
    import httpx  # LiteLLM's own; it and the libraries of the providers send through it
    import requests

    httpx.Response.has_redirect_location = property(lambda response: False)  # type: ignore[assignment,method-assign]
    requests.Session.get_redirect_target = lambda session, response: None  # type: ignore[assignment,method-assign]


def _load_client(litellm: Any) -> None:
    """Load the hundreds of modules that LiteLLM loads with its first call, before the time limit of a call begins.

    On a slow machine they took longer than the limit, which ends the process: so no later call ever got further.
    """
    _ = litellm.main.openai.OpenAI(api_key="none").chat.completions


def main(calls: TextIO, replies: TextIO) -> None:
    """Load LiteLLM and say `ready`, then answer one line with one line until there are no more, or one was the last."""
    calls.readline()
    if hasattr(os, "nice"):
        os.nice(10)  # a recall that is going on comes first
    try:
        import litellm
    except ImportError as error:
        print(str(error).replace("\n", " "), file=replies, flush=True)
        return
    litellm.suppress_debug_info = True
    litellm.telemetry = False
    _stay_at_the_address()
    _load_client(litellm)
    print("ready", file=replies, flush=True)
    for line in calls:
        reply = complete(litellm, ProviderCall(**json.loads(line)))
        last = reserved_bytes() > _MEMORY_BYTES // 2
        print(json.dumps({**asdict(reply), "last": last}), file=replies, flush=True)
        if last:
            return


def serve() -> None:
    """Run LiteLLM's `main` over this process's own pipes; what else is printed goes nowhere."""
    limit_memory(_MEMORY_BYTES)
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as pipe:
        os.dup2(2, 1)
        main(sys.stdin, pipe)


if __name__ == "__main__":
    serve()
