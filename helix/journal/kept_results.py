"""Kept results: what language models answered and what was found in episodes, so that none is asked or read twice.

What is lacking is asked, or found, again. What each provider was given is counted too, by month.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from helix.journal.backend import Backend, put
from helix.model.usage import KeptAnswer, ModelSpend

_MOST_KEPT = 20_000
_ALL = 1 << 40


class Answers:
    """The answer cache and the spend of one journal. Any thread may use it; every change is durable when it returns.

    An answer is kept under a hash of everything it was asked with, so that no question's text stands here. The answers
    themselves may repeat what they were asked about: whoever erases a text has to `clear` them.
    """

    def __init__(self, database: Backend, *, most_kept: int = _MOST_KEPT) -> None:
        """`most_kept` bounds the cache: of more answers than that the oldest go."""
        self._database = database
        self._most_kept = most_kept

    def kept(self, key: str) -> KeptAnswer | None:
        """Return the language model's answer that the journal keeps under the key, or None."""
        with self._database.reading() as connection:
            row = connection.execute(
                "SELECT model, answer, tokens_in, tokens_out, cost FROM model_answer WHERE key = ?", (key,)
            ).fetchone()
        if row is None:
            return None
        model, answer, tokens_in, tokens_out, cost = row
        return KeptAnswer(model=model, answer=answer, tokens_in=tokens_in, tokens_out=tokens_out, cost=cost)

    def keep(self, key: str, at: int, answer: KeptAnswer) -> None:
        """Keep a model's answer in the journal, given at a time in microseconds; the oldest go of too many."""
        with self._database.transaction() as connection:
            connection.execute(
                put("model_answer", ("key", "at", "model", "answer", "tokens_in", "tokens_out", "cost"), ("key",)),
                (key, at, answer.model, answer.answer, answer.tokens_in, answer.tokens_out, answer.cost),
            )
            connection.execute(
                "DELETE FROM model_answer WHERE key IN"
                " (SELECT key FROM model_answer ORDER BY at DESC, key LIMIT ? OFFSET ?)",
                (_ALL, self._most_kept),
            )

    def clear(self) -> int:
        """Forget every model's answer kept in the journal, return how many there were; what was spent stays."""
        with self._database.transaction() as connection:
            return len(connection.execute("DELETE FROM model_answer RETURNING key").fetchall())

    def charge(self, spend: ModelSpend) -> None:
        """Add calls, failures, tokens and cost to what the journal says a provider took in that month."""
        with self._database.transaction() as connection:
            connection.execute(
                "INSERT INTO model_spend (month, provider, calls, failures, tokens_in, tokens_out, cost)"
                " VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (month, provider) DO UPDATE SET"
                " calls = model_spend.calls + excluded.calls, failures = model_spend.failures + excluded.failures,"
                " tokens_in = model_spend.tokens_in + excluded.tokens_in,"
                " tokens_out = model_spend.tokens_out + excluded.tokens_out,"
                " cost = model_spend.cost + excluded.cost",
                (
                    *(spend.month, spend.provider, spend.calls, spend.failures),
                    *(spend.tokens_in, spend.tokens_out, spend.cost),
                ),
            )

    def spent(self, until: str, months: int = 12) -> tuple[ModelSpend, ...]:
        """Return what the journal says was spent in the newest `months` that saw any, up to the month `until`.

        Newest first, by provider's name within one.
        """
        with self._database.reading() as connection:
            rows = connection.execute(
                "SELECT month, provider, calls, failures, tokens_in, tokens_out, cost FROM model_spend WHERE month IN"
                " (SELECT DISTINCT month FROM model_spend WHERE month <= ? ORDER BY month DESC LIMIT ?)"
                " ORDER BY month DESC, provider",
                (until, months),
            ).fetchall()
        names = ("month", "provider", "calls", "failures", "tokens_in", "tokens_out", "cost")
        return tuple(ModelSpend(**dict(zip(names, row, strict=True))) for row in rows)


class Extracted:
    """The kept extractions of one journal. Any thread may use it; every change is durable when it returns.

    What is kept repeats the words of the episodes: erasing a text empties it.
    """

    def __init__(self, database: Backend) -> None:
        self._database = database

    def kept(self, edition: str, episodes: Sequence[str]) -> dict[str, tuple[str, bytes]]:
        """Return from the journal's table the candidates (JSON) and vectors (float32) kept for episodes, by their ids.

        Only what was found by that edition of an extractor.
        """
        with self._database.reading() as connection:
            rows = connection.execute(
                "SELECT episode, candidates, vectors FROM extracted"
                " WHERE episode IN (SELECT value FROM json_each(?)) AND edition = ?",
                (json.dumps(list(episodes)), edition),
            ).fetchall()
        return {episode: (candidates, vectors) for episode, candidates, vectors in rows}

    def keep(self, edition: str, found: Mapping[str, tuple[str, bytes]]) -> None:
        """Put candidates and vectors into the journal's table, by their episodes' ids, in place of what was kept."""
        with self._database.transaction() as connection:
            connection.executemany(
                put("extracted", ("episode", "edition", "candidates", "vectors"), ("episode",)),
                [(episode, edition, candidates, vectors) for episode, (candidates, vectors) in found.items()],
            )
