"""The router over LiteLLM: which provider is asked, within which budget, and what happens when one of them fails.

Providers are asked in their order until one gives an answer that fits. What was answered once is not asked again, what
is paid for stays within the month's budget, and a provider that keeps failing rests, longer each time, so that it costs
nobody a time limit per question (`Circuit`).
"""

from __future__ import annotations

import json
import logging
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Protocol

from helix import settings
from helix.model.clock import Clock, to_micros
from helix.model.usage import (
    NO_KEY,
    NOT_CONFIRMED,
    NOT_INSTALLED,
    OVER_BUDGET,
    KeptAnswer,
    ModelSpend,
    ModelUsage,
    ProviderState,
)
from helix.providers.addresses import is_here
from helix.providers.litellm_calls import ProviderCall, ProviderReply
from helix.providers.llm import Absence, Answer, ModelQuestion, Provider, fits_schema, read
from helix.providers.packing import instructions_of, packed, packs, schema_of, unpacked
from helix.text.secrets.redact import redact, redact_value
from helix.text.structured import map_texts
from helix.text.tokens import estimate_tokens

log = logging.getLogger(__name__)

_ATTEMPTS = 3
_LONGEST_WAIT_S = 10.0
_RESERVE = 1.5
"""What a call is taken to need at most, as a multiple of the estimate of its tokens."""
_AGAIN = frozenset({Absence.RATE_LIMITED, Absence.FAILED})
"""What may be over in a moment; a time limit that was reached is not spent a second time."""
_NOT_ASKED = frozenset({Absence.BUDGET, Absence.RESTING})


class ProviderLedger(Protocol):
    """Where answers and spend are kept; see `helix.journal.kept_results.Answers`."""

    def kept(self, key: str) -> KeptAnswer | None: ...

    def keep(self, key: str, at: int, answer: KeptAnswer) -> None: ...

    def charge(self, spend: ModelSpend) -> None: ...

    def spent(self, until: str, months: int = 12) -> tuple[ModelSpend, ...]: ...


class ProviderCalls(Protocol):
    """What sends calls; see `helix.providers.litellm_calls.LiteLLMCalls`."""

    def ask(self, call: ProviderCall) -> ProviderReply: ...

    def close(self) -> None: ...


class Router:
    """The language models of one service: a `LanguageModel` over providers in order. Any thread may ask."""

    def __init__(
        self,
        providers: Sequence[Provider],
        ledger: ProviderLedger,
        calls: ProviderCalls,
        *,
        clock: Clock,
        budget: int = 0,
        timeout_s: float = 30.0,
        wait_s: float = 1.0,
        secret: Callable[[str], str | None] = settings.secret,
        may_be_asked: Callable[[str], bool] = is_here,
        missing: str = "",
    ) -> None:
        """`budget` is tokens of paid providers in a month (UTC), 0 forbids paying; `timeout_s` is for one call.

        `may_be_asked` is told where texts for a provider would go (see `Provider.place`), and says whether they may.
        `missing` says what keeps every provider from being asked, empty where nothing does.
        `wait_s` is waited before a call is repeated, and twice as long the next time, unless the provider says when.
        """
        self._providers = tuple(providers)
        self._ledger = ledger
        self._calls = calls
        self._clock = clock
        self._budget = budget
        self._timeout_s = timeout_s
        self._wait_s = wait_s
        self._secret = secret
        self._may_be_asked = may_be_asked
        self._missing = missing
        self._circuits = {provider.name: Circuit() for provider in self._providers}
        self._turn = threading.Lock()
        self._stopping = threading.Event()
        self._asked = self._hits = 0
        self._absences: Counter[str] = Counter()

    @property
    def available(self) -> bool:
        """Whether a language model's provider may be asked: now, after a rest, or in a month with another budget."""
        return any(
            self._key(provider) is not None and (provider.free or self._budget > 0) for provider in self._providers
        )

    def answer(self, question: ModelQuestion, texts: Sequence[str]) -> list[Answer]:
        """Return a language model's answer for each text, kept ones without a call; absent with a reason, no raising.

        A call at a time is under way. Once every provider is out for more than a moment, a further text costs nothing.
        """
        redacted = [redact(text).text for text in texts]
        answers = {text: kept for text in redacted if (kept := self._kept(question, text)) is not None}
        self._hits += sum(text in answers for text in redacted)
        lacking = [text for text in dict.fromkeys(redacted) if text not in answers]
        for pack in packs(lacking, question.batch):
            with self._turn:
                answers.update(zip(pack, self._answers(question, pack), strict=True))
        for text in lacking:
            if (absence := answers[text].absence) is not None:
                self._absences[absence.value] += 1
        return [answers[text] for text in redacted]

    def close(self) -> None:
        """End what language models are being asked or waited for; later questions are absent."""
        self._stopping.set()
        self._calls.close()

    def usage(self) -> ModelUsage:
        """Return how each provider stands, what was spent, and what came of questions since the start; waits for none.

        A provider whose key is missing is `no key`, a paid one without budget `over budget`.
        """
        return ModelUsage(
            budget=self._budget,
            paid_tokens=self._paid_tokens(),
            providers=tuple(map(self._state, self._providers)),
            spend=self._ledger.spent(self._month()),
            calls=self._asked,
            cache_hits=self._hits,
            absences=dict(sorted(self._absences.items())),
        )

    def _kept(self, question: ModelQuestion, text: str) -> Answer | None:
        """Return the answer that any of the providers gave to this before."""
        for provider in self._providers:
            kept = self._ledger.kept(_key_of(provider, question, text))
            value = read(kept.answer) if kept is not None else None
            if isinstance(value, dict) and fits_schema(value, question.schema):
                return Answer(value=value, model=provider.name, cached=True)
        return None

    def _answers(self, question: ModelQuestion, texts: Sequence[str]) -> list[Answer]:
        """Ask the providers that have a key in order, each for what those before it did not answer."""
        came: dict[str, list[Answer]] = {text: [] for text in texts}
        for provider in self._providers:
            lacking = [text for text in texts if all(answer.value is None for answer in came[text])]
            key = self._key(provider)
            if key is None or not lacking or self._stopping.is_set():
                continue
            refusal = self._refusal(provider, question, lacking)
            given = [refusal] * len(lacking) if refusal else self._asking(provider, key, question, lacking)
            for text, answer in zip(lacking, given, strict=True):
                came[text].append(answer)
        return [_best(came[text], self._missing) for text in texts]

    def _key(self, provider: Provider) -> str | None:
        """Return the provider's key, empty where it needs none; None where that, or the user's yes, is missing."""
        if self._missing or not self._may_be_asked(provider.place):
            return None
        return (self._secret(provider.secret) or None) if provider.secret else ""

    def _refusal(self, provider: Provider, question: ModelQuestion, texts: Sequence[str]) -> Answer | None:
        """Return why the provider is not asked now, or None."""
        circuit = self._circuits[provider.name]
        if circuit.resting(self._clock()):
            return Answer(absence=Absence.RESTING, detail=circuit.trouble, model=provider.name)
        if not self._affordable(provider, _most_tokens(question, texts)):
            detail = f"{self._paid_tokens():,} of {self._budget:,} tokens are spent this month"
            return Answer(absence=Absence.BUDGET, detail=detail, model=provider.name)
        return None

    def _affordable(self, provider: Provider, tokens: int) -> bool:
        return provider.free or self._paid_tokens() + tokens <= self._budget

    def _paid_tokens(self) -> int:
        """Return the tokens of this month that count towards the budget: all but those of free providers."""
        free = {provider.name for provider in self._providers if provider.free}
        month = self._month()
        mine = (spend for spend in self._ledger.spent(month) if spend.month == month and spend.provider not in free)
        return sum(spend.tokens_in + spend.tokens_out for spend in mine)

    def _month(self) -> str:
        return f"{self._clock():%Y-%m}"

    def _asking(self, provider: Provider, key: str, question: ModelQuestion, texts: Sequence[str]) -> list[Answer]:
        """Ask one provider, again after a moment where that may help; keep what it answers."""
        call = ProviderCall(
            model=provider.model,
            task=question.task,
            instructions=instructions_of(question),
            text=packed(texts),
            schema=schema_of(question),
            max_tokens=question.max_tokens * len(texts),
            seconds=self._timeout_s,
            key=key,
            url=provider.url,
        )
        attempts: list[list[Answer]] = []
        for attempt in range(_ATTEMPTS):
            reply = self._sent(provider, call)
            attempts.append(_shared(provider, reply, question, len(texts)))
            self._charge(provider, reply, failed=all(answer.value is None for answer in attempts[-1]))
            self._note(provider, attempts[-1], reply)
            wait = self._wait_s * 2**attempt if reply.retry_after is None else reply.retry_after
            if reply.absence not in _AGAIN or wait > _LONGEST_WAIT_S or attempt + 1 == _ATTEMPTS:
                break
            if self._refusal(provider, question, texts) is not None or self._stopping.wait(wait):
                break
        answers = [_redacted(_with_sum(came[-1], came)) for came in zip(*attempts, strict=True)]
        for text, answer in zip(texts, answers, strict=True):
            self._keep(provider, question, text, answer)
        return answers

    def _sent(self, provider: Provider, call: ProviderCall) -> ProviderReply:
        self._asked += 1
        reply = self._calls.ask(call)
        if reply.absence is Absence.TIMEOUT:  # it may have been answered, and billed, after nobody listened any more
            told = call.instructions + json.dumps(call.schema) + call.text
            return replace(reply, tokens_in=estimate_tokens(told), tokens_out=call.max_tokens)
        return replace(reply, cost=0.0) if provider.free else reply

    def _charge(self, provider: Provider, reply: ProviderReply, *, failed: bool) -> None:
        if reply.absence is not Absence.STOPPED:
            self._ledger.charge(
                ModelSpend(
                    month=self._month(),
                    provider=provider.name,
                    calls=1,
                    failures=int(failed),
                    tokens_in=reply.tokens_in,
                    tokens_out=reply.tokens_out,
                    cost=reply.cost,
                )
            )

    def _keep(self, provider: Provider, question: ModelQuestion, text: str, answer: Answer) -> None:
        if answer.value is not None:
            kept = KeptAnswer(
                model=provider.name,
                answer=json.dumps(answer.value, ensure_ascii=False, sort_keys=True),
                tokens_in=answer.tokens_in,
                tokens_out=answer.tokens_out,
                cost=answer.cost,
            )
            self._ledger.keep(_key_of(provider, question, text), to_micros(self._clock()), kept)

    def _note(self, provider: Provider, answers: Sequence[Answer], reply: ProviderReply) -> None:
        """Note how the provider did. A refusal is about the text and says nothing of it."""
        circuit = self._circuits[provider.name]
        absence = answers[0].absence
        if any(answer.value is not None for answer in answers):
            circuit.answered()
        elif absence is not None and absence not in (Absence.REFUSED, Absence.STOPPED):
            trouble = f"{absence.value}: {reply.detail}".removesuffix(": ")
            log.warning("language model failed", extra={"provider": provider.name, "trouble": trouble})
            after = reply.retry_after or 0.0
            rest = absence is Absence.DENIED or after > _LONGEST_WAIT_S
            circuit.failed(self._clock(), trouble, rest=rest, at_least=after)

    def _state(self, provider: Provider) -> ProviderState:
        circuit = self._circuits[provider.name]
        state = "ready"
        if provider.secret and not self._secret(provider.secret):
            state = f"{NO_KEY}: {provider.secret} is not set"
        elif self._missing:
            state = f"{NOT_INSTALLED}: {self._missing}"
        elif not self._may_be_asked(place := provider.place):
            state = f"{NOT_CONFIRMED}: texts would go to {place}; `helix models confirm {place}` allows it"
        elif not self._affordable(provider, 1):
            state = OVER_BUDGET if self._budget else f"{OVER_BUDGET}: it is paid, and monthly_token_budget is 0"
        elif until := circuit.resting(self._clock()):
            state = f"rests until {until:%H:%M:%S} UTC"
        return ProviderState(
            model=provider.name,
            free=provider.free,
            ready=state == "ready",
            state=state,
            place=provider.place,
            trouble=circuit.trouble,
        )


def _most_tokens(question: ModelQuestion, texts: Sequence[str]) -> int:
    told = instructions_of(question) + json.dumps(schema_of(question)) + packed(texts)
    return int(_RESERVE * estimate_tokens(told)) + question.max_tokens * len(texts)


def _shared(provider: Provider, reply: ProviderReply, question: ModelQuestion, count: int) -> list[Answer]:
    """Return a reply as the answers to each of its texts, which share evenly in what it took."""
    values = [reply.absence] * count if reply.absence else unpacked(reply.text, question, count)
    return [
        Answer(
            value=None if isinstance(value, Absence) else value,
            absence=value if isinstance(value, Absence) else None,
            detail=reply.detail,
            model=provider.name,
            tokens_in=reply.tokens_in * (place + 1) // count - reply.tokens_in * place // count,
            tokens_out=reply.tokens_out * (place + 1) // count - reply.tokens_out * place // count,
            cost=reply.cost / count,
        )
        for place, value in enumerate(values)
    ]


def _best(answers: Sequence[Answer], missing: str) -> Answer:
    """Return the answer, or of several reasons the one of the first provider that was asked; with what all took."""
    told = sorted(answers, key=lambda answer: (answer.value is None, answer.absence in _NOT_ASKED))
    best = told[0] if told else Answer(absence=Absence.NO_PROVIDER, detail=missing or "none has a key or an address")
    return _with_sum(best, answers)


def _key_of(provider: Provider, question: ModelQuestion, text: str) -> str:
    """Return the hash of everything that an answer depends on, the provider's model included."""
    asked: Mapping[str, object] = {
        "model": provider.model,
        "url": provider.url,
        "instructions": question.instructions,
        "schema": question.schema,
        "max_tokens": question.max_tokens,
        "text": text,
    }
    return sha256(json.dumps(asked, sort_keys=True).encode("ascii")).hexdigest()


def _redacted(answer: Answer) -> Answer:
    """Return an answer without the secrets that a model knows or makes up: it is kept, and what it says may be."""
    return replace(answer, value=map_texts(answer.value, lambda name, text: redact_value(name, text).text))


def _with_sum(answer: Answer, answers: Sequence[Answer]) -> Answer:
    """Return the answer with what all of them took."""
    return replace(
        answer,
        tokens_in=sum(each.tokens_in for each in answers),
        tokens_out=sum(each.tokens_out for each in answers),
        cost=sum(each.cost for each in answers),
    )


FAILURES = 3
"""Failures in a row after which a provider rests."""
FIRST_REST, LONGEST_REST = timedelta(minutes=1), timedelta(hours=1)


class Circuit:
    """How one provider has done lately. One thread notes, any reads."""

    def __init__(self) -> None:
        self.answered()

    def answered(self) -> None:
        """Note a model provider's answer: whatever was before is forgotten."""
        self._failures = self._rests = 0
        self._until: datetime | None = None
        self.trouble = ""
        """How it failed last; empty once it answers again."""

    def resting(self, now: datetime) -> datetime | None:
        """Return until when a model provider rests, or None when it may be asked."""
        until = self._until  # further away it is only where the clock was wrong then, or is now
        return until if until is not None and now < until <= now + LONGEST_REST else None

    def failed(self, now: datetime, trouble: str, *, rest: bool, at_least: float = 0.0) -> None:
        """Note a provider's failure. The third in a row means a rest, as does the first after one, or what `rest` says.

        A rest is twice as long as the one before it, and not shorter than `at_least` seconds, both up to an hour.
        """
        self._failures += 1
        self.trouble = trouble
        if rest or self._rests or self._failures >= FAILURES:
            asked_for = min(LONGEST_REST, timedelta(seconds=min(at_least, LONGEST_REST.total_seconds())))
            self._until = now + max(asked_for, min(LONGEST_REST, FIRST_REST * 2**self._rests))
            self._rests = min(self._rests + 1, 10)
