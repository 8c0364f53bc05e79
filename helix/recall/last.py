"""The last answers: what each session was shown last, so that it can be looked at and explained."""

from __future__ import annotations

import threading
from collections import OrderedDict

from helix.errors import NotFoundError
from helix.model.recall import RecallAnswer, RecallItem

_SESSIONS_KEPT = 200


class LastAnswers:
    """The newest answer of each session, and of all sessions under the empty name; safe from any thread."""

    def __init__(self) -> None:
        self._answers: OrderedDict[str, RecallAnswer] = OrderedDict()
        self._guard = threading.Lock()

    def keep(self, answer: RecallAnswer) -> None:
        """Remember an answer as the last of its session; the session silent for longest gives way."""
        with self._guard:
            for session in {answer.query.session, ""}:
                self._answers[session] = answer
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
