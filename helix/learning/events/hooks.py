"""Hooks: the part of the service that coding agents' clients tell what happens while an agent works."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from helix.learning.events.reacting import Reacting, Told
from helix.lifecycle.work.foreground import Foreground


class Hooks:
    """What a client's hooks ask; every method may be called from any thread, and none of them fails."""

    _foreground: Foreground
    _reacting: Reacting

    def hook(self, client: str, payload: object, *, until: float | None = None) -> Mapping[str, Any]:
        """Return what `client` is to read about something that happened; `{}` for nothing, and for whatever is wrong.

        `until` is the moment (of `time.monotonic`) from which nobody waits for it any more. Who asks here has it.
        """
        answer, showing = self.hook_showing(client, payload, until=until)
        showing.arrived()
        return answer

    def hook_showing(self, client: str, payload: object, *, until: float | None = None) -> Told:
        """Return the same for a client at a distance, with what is to be told of its arrival."""
        with self._foreground.request():
            return self._reacting.answer(client, payload, until)

    def warm_hooks(self) -> None:
        """Get ready for the first hook, in the background: an agent waits no longer for it than for the next one."""
        self._reacting.warm_up()

    def settle_hooks(self, seconds: float | None = None) -> bool:
        """Wait until what followed the hooks so far is written down; False when that takes longer."""
        return self._reacting.settle(seconds)
