"""Held notes: what is to be shown at an event whose answer the agent is not given waits for the next that it is."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import replace

from helix.agents.hooks.hook_context import Reaction
from helix.agents.hooks.hook_events import Event

_MOST = 64
"""Agents for which something waits: what is left behind is shown to nobody."""


class HeldNotes:
    """What waits for each agent of a session. Safe from any thread; nothing of it is on disk."""

    def __init__(self) -> None:
        self._waiting: OrderedDict[tuple[str, str, str], Reaction] = OrderedDict()
        self._turn = threading.Lock()

    def passed(self, event: Event, reaction: Reaction, shows: tuple[type[Event], ...], scope: str = "") -> Reaction:
        """Return a reaction with what waited for its agent, or without what has to wait.

        `scope` is the project of a session on another machine, as others may have sessions of that name.
        """
        key = (scope, event.session, event.agent)
        with self._turn:
            held = self._waiting.pop(key, None)
            whole = reaction if held is None else _joined(held, reaction)
            if isinstance(event, shows):
                return whole
            if not whole.reply.context:
                return whole
            if shows:
                self._waiting[key] = replace(whole, always=())
                if len(self._waiting) > _MOST:
                    self._waiting.popitem(last=False)
        return Reaction(always=reaction.always)

    def forget(self) -> None:
        """Let go of what waits."""
        with self._turn:
            self._waiting.clear()


def _joined(held: Reaction, reaction: Reaction) -> Reaction:
    """Return both in one; what follows the first is done before what follows the second."""
    texts = (held.reply.context, reaction.reply.context)
    return replace(
        reaction,
        reply=replace(reaction.reply, context="\n\n".join(text for text in texts if text)),
        at_once=(*held.at_once, *reaction.at_once),
        undone=(*held.undone, *reaction.undone),
        then=(*held.then, *reaction.then),
        did=" and ".join(did for did in (held.did, reaction.did) if did),
    )
