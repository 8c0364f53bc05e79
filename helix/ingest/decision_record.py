"""Decision records: recognises an architecture decision record (ADR) and drafts the one decision it holds."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime

from helix.ingest.note_kinds import Note
from helix.ingest.plain import shorten
from helix.ingest.sections import Document, Section
from helix.model.memory import Kind

_CONTEXT = re.compile(r"context\b|problem\b|issue$|motivation\b|background\b", re.IGNORECASE)
_DECISION = re.compile(r"decisions?(?: outcome| made)?$|resolution$|we decided", re.IGNORECASE)
_REASONS = re.compile(r"consequences?$|rationale$|justification$|pros and cons|implications?$", re.IGNORECASE)
_STATUS = re.compile(r"status$", re.IGNORECASE)
_STATUS_LINE = re.compile(r"^[-* ]*status\**\s*:\**\s*(?P<value>\S.*)$", re.IGNORECASE | re.MULTILINE)
_DATE = re.compile(r"\b(?P<date>\d{4}-\d{2}-\d{2})\b")
_NUMBER = re.compile(r"^\s*(?:ADR|RFC)?[-\s#]*\d{0,5}\s*[-.:\u2013\u2014]?\s*", re.IGNORECASE)
_OVER = re.compile(r"supersed|deprecat|reject|replac|obsolete|withdrawn", re.IGNORECASE)
_OPEN = re.compile(r"propos|draft|pending|open|discussion", re.IGNORECASE)

_LONGEST_CONTEXT = 400
_LONGEST_RESOLUTION = 6_000


def decision_of(document: Document, name: str) -> tuple[Note, datetime | None] | None:
    """Return the decision a document records and its date, or None where it is no decision record.

    It is one when a section is headed as the decision and another as its context, status or consequences; of an open
    or abandoned decision the confidence is lower, and its status is told.
    """
    parts = {part: _under(document, heading) for part, heading in _PARTS.items()}
    if not parts["decision"] or not (parts["context"] or parts["status"] or parts["reasons"]):
        return None
    title = _NUMBER.sub("", document.sections[0].path[0] if document.sections[0].path else "") or name
    status = _status(document, parts["status"])
    context = " ".join(parts["context"].split())
    told = [parts["decision"], parts["reasons"], f"Status: {status}" if status else ""]
    note = Note(
        kind=Kind.DECISION,
        trigger=f"{title}: {shorten(context, _LONGEST_CONTEXT)}" if context else title,
        resolution=shorten("\n\n".join(part for part in told if part), _LONGEST_RESOLUTION),
        confidence=0.4 if _OVER.search(status) else 0.6 if _OPEN.search(status) else 0.9,
        name=title,
        attributes={"status": status} if status else {},
    )
    return note, date_of(document.front_matter, document)


_PARTS = {"context": _CONTEXT, "decision": _DECISION, "reasons": _REASONS, "status": _STATUS}


def date_of(front_matter: Mapping[str, str | tuple[str, ...]], document: Document | None = None) -> datetime | None:
    """Return the day that the front matter names, else the first one in the document's head, as midnight UTC."""
    stated = front_matter.get("date", front_matter.get("created", ""))
    head = document.sections[0].text[:_LONGEST_CONTEXT] if document and document.sections else ""
    match = _DATE.search(stated if isinstance(stated, str) else "") or _DATE.search(head)
    try:
        return datetime.fromisoformat(match["date"]).replace(tzinfo=UTC) if match else None
    except ValueError:
        return None


def _under(document: Document, heading: re.Pattern[str]) -> str:
    """Return the text of the sections under the first heading that matches, their own sections included."""
    found: list[Section] = []
    depth = 0
    for section in document.sections:
        if found:
            if len(section.path) <= depth:
                break
            found.append(section)
        elif section.path and heading.match(_NUMBER.sub("", section.path[-1])):
            depth = len(section.path)
            found.append(section)
    return "\n\n".join(section.text.strip() for section in found)


def _status(document: Document, section: str) -> str:
    stated = document.front_matter.get("status", "")
    if isinstance(stated, str) and stated:
        return shorten(stated, 100)
    if section:
        return shorten(section.split("\n\n")[0].replace("\n", " "), 100)
    match = next((found for part in document.sections if (found := _STATUS_LINE.search(part.text))), None)
    return shorten(match["value"], 100) if match else ""
