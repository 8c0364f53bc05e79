"""Fair threads: a few threads that several stores of one process share, and use by turns."""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")


class FairThreads:
    """Runs calls of several stores, of each in the order in which they came, and of another store each time.

    So however many calls one of them has waiting, a call of another one waits for one of each at most. Safe from any
    thread.
    """

    def __init__(self, most: int, name: str) -> None:
        """`most` calls run at once, in threads that are named after `name`."""
        self._pool = ThreadPoolExecutor(most, thread_name_prefix=name)
        self._guard = threading.Lock()
        self._waiting: OrderedDict[object, deque[Callable[[], None]]] = OrderedDict()

    def submit(self, store: object, function: Callable[..., T], /, *args: Any) -> Future[T]:
        """Have a thread call `function` for a store, and return what it will come to."""
        answer: Future[T] = Future()

        def call() -> None:
            try:
                answer.set_result(function(*args))
            except BaseException as error:  # whoever waits for the answer is told
                answer.set_exception(error)

        with self._guard:
            self._waiting.setdefault(store, deque()).append(call)
        self._pool.submit(self._next)
        return answer

    def close(self) -> None:
        """Finish all calls, and end the threads."""
        self._pool.shutdown()

    def _next(self) -> None:
        with self._guard:
            store, calls = self._waiting.popitem(last=False)
            call = calls.popleft()
            if calls:
                self._waiting[store] = calls
        call()
