"""Clients in a process of their own, a thread and a connection each, that ask a daemon one question after another.

Read from stdin is one JSON object with the fields of `Work`, written to stdout what was measured. The full shipped
document is asked, and every answer is decoded: that is what a client does with it.
"""

from __future__ import annotations

import json
import random
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.speed_corpus import Phrases
from helix.client import Client
from helix.errors import HelixError


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What is asked: for `seconds` by so many clients at once, new words each time, or each of the `texts` once.

    Of `texts`, each is asked in every one of the `scopes` in turn (None: in all).
    """

    url: str
    token: str
    clients: int = 1
    seconds: float = 1.0
    warm: int = 3
    limit: int = 10
    texts: Sequence[str] = ()
    scopes: Sequence[str | None] = (None,)


class Asking:
    """Everything the clients measured."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._seed = time.time_ns()
        self._begin = threading.Barrier(work.clients + 1)
        self.times: list[list[float]] = [[] for _ in work.scopes]
        self.stages: list[dict[str, list[float]]] = [{} for _ in work.scopes]
        self.outside = 0
        self.errors: list[str] = []

    def run(self) -> dict[str, Any]:
        """Return times in seconds by scope, stage times in milliseconds by scope, and the wall time of it all."""
        threads = [threading.Thread(target=self._client, args=(number,)) for number in range(self._work.clients)]
        for thread in threads:
            thread.start()
        self._begin.wait()
        started = time.perf_counter()
        for thread in threads:
            thread.join()
        return {
            "seconds": time.perf_counter() - started,
            "times": self.times,
            "stages": self.stages,
            "outside": self.outside,
            "errors": self.errors,
        }

    def _client(self, number: int) -> None:
        phrases = Phrases(random.Random(self._seed + number))
        with Client(self._work.url, self._work.token) as client:
            for _ in range(self._work.warm):
                client.run("recall", query=phrases.question(), limit=self._work.limit)
            self._begin.wait()
            if self._work.texts:
                for text in self._work.texts:
                    for place, scope in enumerate(self._work.scopes):
                        self._ask(client, text, place, scope)
                return
            until = time.monotonic() + self._work.seconds
            while time.monotonic() < until:
                self._ask(client, phrases.question(), 0, None)

    def _ask(self, client: Client, text: str, place: int, scope: str | None) -> None:
        started = time.perf_counter()
        try:
            answer = client.run("recall", query=text, limit=self._work.limit, scope=scope)["recall"]
        except HelixError as error:
            self.errors.append(f"{error.code}: {error}")
            return
        self.times[place].append(time.perf_counter() - started)
        for stage, milliseconds in ((one["name"], one["value"]) for one in answer["timingsMs"]):
            self.stages[place].setdefault(stage, []).append(milliseconds)
        if scope is not None:
            self.outside += sum(item["node"]["scope"] not in (scope, "global") for item in answer["items"])


def main() -> None:
    """Do the work on stdin."""
    given = json.load(sys.stdin)
    json.dump(Asking(Work(**given)).run(), sys.stdout)


if __name__ == "__main__":
    main()
