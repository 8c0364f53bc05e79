"""Redaction: takes secrets out of a text and leaves a marker that says what kind of secret stood there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from helix.text.secrets import assignments, blocks, commands, families, headers, library, phrases
from helix.text.secrets.span import Span

_MARKER = re.compile(r"\[REDACTED:[a-z0-9-]+\]")
_WORD_RUN = re.compile(r"\w{0,4096}")
_ROUNDS = 4
_ASCII_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}
_GENERALITY = {"high-entropy": 3, "credential": 2, "password": 2, "env-value": 2, "auth-header": 1, "url-password": 1}


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One secret: its kind, and its half-open range of character offsets in the original text."""

    kind: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Redaction:
    """A text without its secrets, and what was found, in order."""

    text: str
    findings: tuple[Finding, ...] = ()

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of secret found, sorted, each once."""
        return tuple(sorted({finding.kind for finding in self.findings}))


def redact(text: str) -> Redaction:
    """Return the text with every secret replaced by `[REDACTED:kind]`.

    Idempotent: markers are opaque, and what lies between them is scanned until nothing more is found, exactly as a
    second call would. Never raises on any string; time grows linearly with the length.
    """
    findings: list[Finding] = []
    for start, end in _between_markers(text):
        _scan_region(text, start, end, 0, findings)
    findings.sort(key=lambda finding: finding.start)
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


def _scan_region(text: str, start: int, end: int, depth: int, findings: list[Finding]) -> None:
    region = text[start:end]
    spans = _merged(region)
    if not spans:
        return
    if depth >= _ROUNDS:
        # Only hostile text gets here: each round uncovered a new secret. Taking the region out whole keeps time linear.
        findings.append(Finding(kind=spans[0].kind, start=start, end=end))
        return
    position = 0
    for span in (*spans, Span(len(region), len(region), "")):
        if span.start > position:
            _scan_region(text, start + position, start + span.start, depth + 1, findings)
        if span.kind:
            findings.append(Finding(kind=span.kind, start=start + span.start, end=start + span.end))
        position = span.end


def _merged(region: str) -> list[Span]:
    """Return disjoint spans in order; overlapping ones become one, of the most specific kind."""
    lowered = region.lower()
    if len(lowered) != len(region):  # a few letters grow when lowered, which would shift every offset
        lowered = region.translate(_ASCII_LOWER)
    found = sorted(
        (
            *blocks.find(region),
            *library.find(region),
            *headers.find(region, lowered),
            *assignments.find(region, lowered),
            *phrases.find(region, lowered),
            *commands.find(region, lowered),
            *families.find(region),
        )
    )
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
    """Return redacted text without its markers: they stand for something, and name nothing."""
    return _MARKER.sub(" ", text)
