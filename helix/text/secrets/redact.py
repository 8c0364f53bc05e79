"""Redaction: takes secrets out of a text and leaves a marker that says what kind of secret stood there.

A grammar of where found secrets begin and end; the rules stand in the modules it calls.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from helix.text.regex import regex
from helix.text.secrets import (
    assignments,
    call_arguments,
    disguise,
    families,
    headers,
    markup,
    phrases,
    private_keys,
    secret_records,
    table_cells,
    tool_passwords,
)
from helix.text.secrets.span import Span

_MARKER = regex(r"\[REDACTED:[a-z0-9-]+\]")
_WORD_RUN = regex(r"\w{0,4096}")
_UNSEEN = "\u00ad\u200b-\u200f\u2060-\u2064\ufeff"
_MAY_BE_INVISIBLE = regex(f"[{_UNSEEN}\0-\x08\x0b\x0c\x0e-\x1f\x7f]")
_INVISIBLE = regex(rf"[{_UNSEEN}]|(?<=\w)[\0-\x08\x0b\x0c\x0e-\x1f\x7f](?=\w)")
_ROUNDS = 4
_LAST_LINE = regex(r"([^\n]*[^\s?.:=-])[\s?.:=-]*\Z")
_NAMED_BY, _LONGEST_TOLD = 200, 4_096
_ASCII_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}
_GENERALITY = {"high-entropy": 3, "credential": 2, "password": 2, "env-value": 2, "auth-header": 1, "url-password": 1}


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundSecret:
    """One secret: its kind, and its half-open range of character offsets in the original text."""

    kind: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Redaction:
    """A text without its secrets, and what was found, in order."""

    text: str
    findings: tuple[FoundSecret, ...] = ()

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of secret found, sorted, each once."""
        return tuple(sorted({finding.kind for finding in self.findings}))


def redact(text: str) -> Redaction:
    """Redact a text: every secret is replaced by `[REDACTED:kind]`.

    Idempotent: markers are opaque, and what lies between them is scanned until nothing more is found, exactly as a
    second call would. Never raises on any string; time grows linearly with the length.
    """
    return _without(text, _found(text))


def redacted_from(text: str, start: int) -> str:
    """Return what a text has from a place on, redacted with what stands before it; a secret across it counts."""
    found = [one for one in _found(text) if one.end > start]
    start = min([start, *(one.start for one in found)])
    moved = [replace(one, start=one.start - start, end=one.end - start) for one in found]
    return _without(text[start:], moved).text


def redact_value(name: str, value: str) -> Redaction:
    """Redact the secrets of a value, judged with the name that it stands under: a field, a key, a column."""
    found = redact(value)
    kind = assignments.kind_of(name, value)
    if not kind or (found.findings and not without_markers(found.text).strip()):
        return found
    return _without(value, [FoundSecret(kind=kind, start=0, end=len(value))])


def redact_parts(first: str, second: str) -> tuple[Redaction, Redaction]:
    """Redact the secrets of the two parts of one text.

    A secret may go over the border. And the first part may name what the second one is: "The password of the database",
    "Kr4ken-Bay-22".
    """
    border = len(first)
    whole = _found(f"{first}\n{second}")
    ours = [replace(one, end=min(one.end, border)) for one in whole if one.start < border]
    theirs = [
        replace(one, start=max(one.start - border - 1, 0), end=one.end - border - 1)
        for one in whole
        if one.end > border + 1
    ]
    named = _LAST_LINE.search(first[-_NAMED_BY:])
    # A sentence that goes on is no value: "no more than one token", "unique2012 of them were read".
    if named is not None and not theirs and len(second.partition("\n")[0].split()) == 1:
        lead = f"{named[1]}: "
        said = _found(lead + second[:_LONGEST_TOLD])
        theirs = [
            replace(one, start=one.start - len(lead), end=one.end - len(lead)) for one in said if one.start >= len(lead)
        ]
    return _without(first, ours), _without(second, theirs)


def _found(text: str) -> list[FoundSecret]:
    hidden = {match.start() for match in _INVISIBLE.finditer(text)} if _MAY_BE_INVISIBLE.search(text) else None
    if hidden:
        # Signs that nobody sees hide a token from every rule: what is found without them is placed among them again.
        places = [place for place in range(len(text)) if place not in hidden]
        return [
            replace(one, start=places[one.start], end=places[one.end - 1] + 1)
            for one in _found("".join(text[place] for place in places))
        ]
    findings: list[FoundSecret] = []
    for start, end in _between_markers(text):
        _scan_region(text, start, end, 0, findings)
    return sorted(findings, key=lambda finding: finding.start)


def _without(text: str, findings: Sequence[FoundSecret]) -> Redaction:
    pieces: list[str] = []
    position = 0
    for finding in findings:
        pieces += (text[position : finding.start], f"[REDACTED:{finding.kind}]")
        position = finding.end
    return Redaction(text="".join((*pieces, text[position:])), findings=tuple(findings))


def _between_markers(text: str) -> Iterator[tuple[int, int]]:
    position = 0
    for marker in _MARKER.finditer(text):
        yield position, marker.start()
        position = marker.end()
    yield position, len(text)


def _scan_region(text: str, start: int, end: int, depth: int, findings: list[FoundSecret]) -> None:
    region = text[start:end]
    spans = _merged(region)
    if not spans:
        return
    if depth >= _ROUNDS:
        # Only hostile text gets here: each round uncovered a new secret. Taking the region out whole keeps time linear.
        findings.append(FoundSecret(kind=spans[0].kind, start=start, end=end))
        return
    position = 0
    for span in (*spans, Span(len(region), len(region), "")):
        if span.start > position:
            _scan_region(text, start + position, start + span.start, depth + 1, findings)
        if span.kind:
            findings.append(FoundSecret(kind=span.kind, start=start + span.start, end=start + span.end))
        position = span.end


def _spans(text: str) -> list[Span]:
    """Return what any rule finds, in no order."""
    lowered = text.lower()
    if len(lowered) != len(text):  # a few letters grow when lowered, which would shift every offset
        lowered = text.translate(_ASCII_LOWER)
    return [
        *private_keys.find(text),
        *headers.find(text, lowered),
        *assignments.find(text, lowered),
        *markup.find(text, lowered),
        *table_cells.find(text, lowered),
        *secret_records.find(text, lowered),
        *call_arguments.find(text, lowered),
        *phrases.find(text, lowered),
        *tool_passwords.find(text, lowered),
        *families.find(text),
    ]


def _disguised(text: str) -> list[Span]:
    """Return what rules find once disguises are undone, where it stands in the text."""
    plain = disguise.undone(text)
    if plain is None:
        return []
    return [Span(plain.starts[one.start], plain.ends[one.end - 1], one.kind) for one in _spans(plain.text)]


def _merged(region: str) -> list[Span]:
    """Return disjoint spans in order; overlapping ones become one, of the most specific kind."""
    found = sorted((*_spans(region), *_disguised(region)))
    merged: list[Span] = []
    for span in found:
        run = _WORD_RUN.match(region, span.end) if region[span.end - 1 : span.end].isalnum() else None
        end = run.end() if run else span.end
        if merged and span.start < merged[-1].end:
            last = merged[-1]
            kind = min(last.kind, span.kind, key=lambda kind: _GENERALITY.get(kind, 0))
            merged[-1] = Span(last.start, max(last.end, end), kind)
        else:
            merged.append(Span(span.start, end, span.kind))
    return merged


def without_markers(text: str) -> str:
    """Return redacted text without its redaction markers: they stand for something, and name nothing."""
    return _MARKER.sub(" ", text)
