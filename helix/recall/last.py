"""The last answers: what each session was shown last, so that it can be looked at and explained."""

from __future__ import annotations

import json
import logging
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import asdict, fields, replace
from datetime import datetime
from typing import Any

from helix.errors import NotFoundError, did_you_mean
from helix.model.edge import Label, Ref
from helix.model.recall import ArmHit, RecallAnswer, RecallItem, RecallQuery
from helix.model.records import Node
from helix.recall.question import MAX_CHARACTERS
from helix.text.cleaning import clean
from helix.text.excerpts import head

_PLAIN = tuple(f.name for f in fields(RecallItem) if f.name not in ("node", "label", "arms", "factors"))

log = logging.getLogger(__name__)

_SESSIONS_KEPT = 200
_LONGEST_SESSION = 1_000
"""Characters by which a session is told from others: redacting a name without end would take as long."""


class LastAnswers:
    """The newest answer of each session, and of all sessions under the empty name; safe from any thread."""

    def __init__(self) -> None:
        self._answers: OrderedDict[str, RecallAnswer] = OrderedDict()
        self._guard = threading.Lock()

    def keep(self, answer: RecallAnswer) -> None:
        """Remember recall's answer as the last of its session, redacted; the one silent for longest gives way."""
        asked, own = head(answer.query.query, MAX_CHARACTERS), _key(answer.query.session)
        kept = replace(answer, query=replace(answer.query, query=asked, session=own))
        with self._guard:
            for session in {own, ""}:
                self._answers[session] = kept
                self._answers.move_to_end(session)
            while len(self._answers) > _SESSIONS_KEPT:
                self._answers.popitem(last=False)

    def of(self, session: str) -> RecallAnswer | None:
        """Return recall's last answer of a session, or None."""
        with self._guard:
            return self._answers.get(_key(session))

    def place_of(self, name_or_id: str, session: str) -> RecallItem:
        """Return the item of that name or id, or of what begins so alone, in recall's last answer of the session.

        Raises NotFoundError where it was not in it.
        """
        answer = self.of(session)
        wanted = name_or_id.strip()
        called = {word: item for item in (answer.items if answer is not None else ()) for word in _words_of(item)}
        if wanted in called:
            return called[wanted]
        begun = {item.node.id: item for word, item in called.items() if wanted and word.startswith(wanted)}
        if len(begun) == 1:
            return next(iter(begun.values()))
        meant = did_you_mean(wanted, called)
        raise NotFoundError(f"{wanted!r} was not in the last answer", hint=meant or "`helix last` shows what was")

    def clear(self) -> None:
        """Forget every answer of recall: one may show what was erased since."""
        with self._guard:
            self._answers.clear()

    def to_json(self) -> str:
        """Return recall's last answers of the sessions as text to keep while Helix is closed, nodes by their id."""
        with self._guard:
            kept = {session: _packed(answer) for session, answer in self._answers.items()}
        return json.dumps(kept)  # as ASCII: a session's name may be of letters that no file holds

    def from_json(self, text: str, node_of: Callable[[Ref], Node]) -> None:
        """Take up recall's answers that `to_json` wrote; what is no longer in the store is dropped from them.

        A text that was damaged is passed over: it holds nothing but what was answered last.
        """
        try:
            taken = {session: _unpacked(kept, node_of) for session, kept in json.loads(text).items()}
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            log.warning("the last answers cannot be read", extra={"error": str(error)})
            return
        with self._guard:
            self._answers.update(taken)


def _key(session: str) -> str:
    """Return the name of a session as it is kept everywhere: cleaned and redacted."""
    return head(" ".join(clean(session[:_LONGEST_SESSION]).split()), _LONGEST_SESSION)


def _packed(answer: RecallAnswer) -> dict[str, Any]:
    return {
        "query": answer.query.query,
        "session": answer.query.session,
        "mode": answer.mode,
        "recipe": answer.recipe,
        "tokens": answer.tokens,
        "at": answer.at.isoformat() if answer.at is not None else None,
        "items": [
            {
                "label": item.label.value,
                "id": item.node.id,
                "arms": [asdict(hit) for hit in item.arms],
                "factors": dict(item.factors),
                **{name: getattr(item, name) for name in _PLAIN},
            }
            for item in answer.items
        ],
    }


def _unpacked(kept: dict[str, Any], node_of: Callable[[Ref], Node]) -> RecallAnswer:
    items = []
    for item in kept["items"]:
        label = Label(item["label"])
        try:
            node = node_of(Ref(label=label, id=item["id"]))
        except NotFoundError:
            continue
        arms = tuple(ArmHit(**_plain(hit)) for hit in item["arms"])
        told = _plain({name: item[name] for name in _PLAIN if name in item})  # an older version wrote fewer
        items.append(RecallItem(node=node, label=label, arms=arms, factors=_plain(item["factors"]), **told))
    told = _plain({name: kept[name] for name in ("query", "session", "mode", "recipe", "tokens")})
    return RecallAnswer(
        query=RecallQuery(query=told["query"], session=told["session"]),
        items=tuple(items),
        mode=told["mode"],
        recipe=told["recipe"],
        tokens=told["tokens"],
        at=datetime.fromisoformat(kept["at"]) if kept["at"] else None,
    )


def _plain(said: dict[str, Any]) -> dict[str, Any]:
    """Return values that are words and numbers; raises TypeError for others, which `to_json` could not write again."""
    if not all(isinstance(value, str | int | float) for value in said.values()):
        raise TypeError("neither words nor numbers")
    return said


def _words_of(item: RecallItem) -> list[str]:
    return [word for word in (item.node.id, getattr(item.node, "name", None)) if word]
