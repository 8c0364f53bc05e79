"""The last answers: what each session was shown last, so that it can be looked at and explained."""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import asdict, fields, replace
from datetime import datetime
from typing import Any

from helix.errors import NotFoundError
from helix.model.edge import Label, Ref
from helix.model.recall import ArmHit, RecallAnswer, RecallItem, RecallQuery
from helix.model.records import Node
from helix.text.names import clean
from helix.text.redact import redact

_PLAIN = tuple(f.name for f in fields(RecallItem) if f.name not in ("node", "label", "arms", "factors"))

_SESSIONS_KEPT = 200


class LastAnswers:
    """The newest answer of each session, and of all sessions under the empty name; safe from any thread."""

    def __init__(self) -> None:
        self._answers: OrderedDict[str, RecallAnswer] = OrderedDict()
        self._guard = threading.Lock()

    def keep(self, answer: RecallAnswer) -> None:
        """Remember an answer as the last of its session, question redacted; the one silent for longest gives way."""
        asked = redact(clean(answer.query.query)).text
        kept = replace(answer, query=replace(answer.query, query=asked))
        with self._guard:
            for session in {answer.query.session, ""}:
                self._answers[session] = kept
                self._answers.move_to_end(session)
            while len(self._answers) > _SESSIONS_KEPT:
                self._answers.popitem(last=False)

    def of(self, session: str) -> RecallAnswer | None:
        """Return the last answer of a session, or None."""
        with self._guard:
            return self._answers.get(session)

    def place_of(self, name_or_id: str, session: str) -> RecallItem:
        """Return the item of that name or id in the session's last answer; NotFoundError when it was not in it."""
        answer = self.of(session)
        wanted = name_or_id.strip()
        for item in answer.items if answer is not None else ():
            if wanted in (item.node.id, getattr(item.node, "name", None)):
                return item
        raise NotFoundError(f"{wanted!r} was not in the last answer", hint="`helix last` shows what was")

    def clear(self) -> None:
        """Forget every answer: one may show what was erased since."""
        with self._guard:
            self._answers.clear()

    def to_json(self) -> str:
        """Return the answers as text to keep while Helix is closed; nodes are named by their id."""
        with self._guard:
            kept = {session: _packed(answer) for session, answer in self._answers.items()}
        return json.dumps(kept)  # as ASCII: a session's name may be of letters that no file holds

    def from_json(self, text: str, node_of: Callable[[Ref], Node]) -> None:
        """Take up the answers that `to_json` wrote; what is no longer in the store is left out of them."""
        for session, kept in json.loads(text).items():
            with self._guard:
                self._answers[session] = _unpacked(kept, node_of)


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
        arms = tuple(ArmHit(**hit) for hit in item["arms"])
        plain = {name: item[name] for name in _PLAIN}
        items.append(RecallItem(node=node, label=label, arms=arms, factors=item["factors"], **plain))
    return RecallAnswer(
        query=RecallQuery(query=kept["query"], session=kept["session"]),
        items=tuple(items),
        mode=kept["mode"],
        recipe=kept["recipe"],
        tokens=kept["tokens"],
        at=datetime.fromisoformat(kept["at"]) if kept["at"] else None,
    )
