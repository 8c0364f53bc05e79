"""Session recall: a question is answered for whoever waits, and the answer kept as the last one of its session."""

from __future__ import annotations

from helix.memory.capture.sessions import is_private
from helix.memory.job_run.foreground import Foreground
from helix.model.recall import RecallAnswer, RecallQuery
from helix.recall.last import LastAnswers
from helix.recall.pipeline import Recaller
from helix.store.store import Store


class SessionRecall:
    """Answers questions; background work gives way meanwhile. What a private session asks is not kept."""

    def __init__(self, store: Store, recaller: Recaller, answers: LastAnswers, foreground: Foreground) -> None:
        self._store, self._recaller, self._answers, self._foreground = store, recaller, answers, foreground

    def __call__(self, query: RecallQuery) -> RecallAnswer:
        """Answer a question; raises what `Recaller.recall` does, and DiskFullError."""
        self._store.check_space()
        with self._foreground.request():
            answer = self._recaller.recall(query)
        if not is_private(self._store.journal, query.session):
            self._answers.keep(answer)
        return answer
