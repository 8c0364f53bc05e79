"""What is known of the sessions under way: their project, their agents, what each did and what it was shown."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from helix.agents.answers.prompt import AgentType
from helix.agents.hook_events.client_transcripts import folder_told, fork_told
from helix.agents.hook_events.hook_events import HookEvent, PromptGiven, SessionBegan
from helix.agents.tasks.board import SESSION_KEY, task_id
from helix.command_outcome.fixes import FixTracker
from helix.files import is_folder
from helix.identity import DEEPEST, NO_PROJECT, Identity, project_of
from helix.memory.capture.sessions import SessionRequest, is_private, open_session
from helix.model.context_answers import Site
from helix.model.edge import Ref
from helix.model.episode import session_id
from helix.store.store import Store

MOST_SESSIONS = 200
"""How many sessions are kept in mind; of one that was let go, what is in the store is known."""
_UNDER_WAY = 3_600.0
"""Seconds after something was heard of a private session in which its sub-agents may begin."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentCall:
    """An agent that was called: by which call, as what, with which prompt, and the key of the task it is to do.

    `silent` marks one whose prompt wants no memories.
    """

    call: str
    called_type: str
    kind: AgentType | None
    key: str
    prompt: str = ""
    silent: bool = False


class SessionWorker:
    """One who works in a session: the main thread or a sub-agent, with what it did and was shown.

    `key` tells its task apart in the session. `files` were changed, `fix_tracker` is told of what is done, and `held`
    is what is to be written down once it is certain whose task it is of: all three belong to the thread that writes
    down what happened.
    """

    def __init__(self, key: str, before: Iterable[str] = ()) -> None:
        """Begin anew, or where a daemon before this one left off: with the memories that it has shown."""
        self.key = key
        self.kind: AgentType | None = None
        self.agent_type = ""
        self.silent = False
        self.sure = True
        self.held: list[Callable[[], object]] = []
        self.files: dict[str, None] = {}
        self.fix_tracker = FixTracker()
        self._turn = threading.Lock()
        self._seen = set(before)

    def unseen(self, sites: Sequence[Site]) -> list[Site]:
        """Return the sites whose memory hooks have not shown yet: a fact is seen once, until the history is cut."""
        with self._turn:
            return [site for site in sites if site.memory.id not in self._seen]

    def saw(self, sites: Sequence[Site]) -> None:
        """Take note of what a hook has shown to one who works in the session."""
        with self._turn:
            self._seen.update(site.memory.id for site in sites)

    def learned(self, memory_id: str) -> None:
        """Take note of a memory that hooks have made of what one who works did: whoever learned it knows it."""
        with self._turn:
            self._seen.add(memory_id)

    def saw_not(self, sites: Sequence[Site]) -> None:
        """Take note that what a hook was to show has not arrived."""
        with self._turn:
            self._seen.difference_update(site.memory.id for site in sites)

    def write_held(self) -> None:
        """Write down what hooks held for one who works, in order; what comes after a failure is written next time."""
        while self.held:
            self.held.pop(0)()

    def forget(self) -> None:
        """Take note that all that hooks have shown one who works is out of sight."""
        with self._turn:
            self._seen.clear()


class HookSession:
    """One session under way. Its methods are safe from any thread; what it holds is lost with the daemon, and
    recollected by the next one as far as the store and the client's own history tell it.

    `objective` is what an agent of it was last said to be for; `briefed` whether it needs no brief; `recollected` says
    that it was looked up, `told_before` holds the ids of actions that its history has told of already; `old` says that
    the store had it when it was first heard of. `prompts` counts what its user said, `told` holds the ids of memories
    that came with its brief and prompts; `asked_at` and `asked_terms` are of the last prompt that memories were looked
    up for. `is_noted` says that its folder is noted as its project's, `came_after` holds the folders before it,
    `names_before` the names that it had, and `was_noticed` that the user was told of that.
    """

    def __init__(self, name: str, place: Identity, *, old: bool = False) -> None:
        self.name = name
        self.old = old
        self.scope = place.scope
        self.root = place.root
        self.project = place
        self.is_noted = False
        self.was_noticed = False
        self.came_after: Sequence[str] = ()
        self.names_before: Sequence[str] = ()
        self.turn = threading.RLock()
        self.objective = ""
        self.briefed = False
        self.recollected = False
        self.told_before: set[str] = set()
        self.told: set[str] = set()
        self.prompts = 0
        self.asked_at = 0
        self.asked_terms: frozenset[str] = frozenset()
        self._main = SessionWorker(SESSION_KEY)
        self._before: Mapping[str, Collection[str]] = {}
        self._unmet: dict[str, SessionWorker] = {}
        self._agents: dict[str, SessionWorker] = {}
        self._calls: dict[str, AgentCall] = {}
        self._own: dict[str, str] = {}
        self._open_tasks: dict[str, None] = {}

    def recollect(self, shown: Mapping[str, Collection[str]], open_tasks: Iterable[str]) -> None:
        """Take note of what the store has of a session of hooks: memories shown, by agent or task, and open tasks.

        The main thread's are under an empty name.
        """
        with self.turn:
            self.recollected, self._before = True, shown
            self._main = SessionWorker(SESSION_KEY, before=shown.get("", ()))
            self._open_tasks.update(dict.fromkeys(open_tasks))

    def read_of(self, agent: str) -> SessionWorker:
        """Return who in a session of hooks a history is of.

        No call is taken for that of a sub-agent which has told nothing itself yet.
        """
        with self.turn:
            if not agent or agent in self._agents:
                return self._agents.get(agent, self._main)
            if agent not in self._unmet:
                self._unmet[agent] = self._made(agent)
            return self._unmet[agent]

    def was_briefed(self, memories: Iterable[str] = ()) -> None:
        """Take note that the session of hooks has its brief, with these memories, or needs none."""
        self.briefed = True
        self.told.update(memories)

    def was_not_briefed(self, memories: Iterable[str]) -> None:
        """Take note that the brief of the session of hooks has not arrived, with these memories."""
        self.briefed = False
        self.told.difference_update(memories)

    def forget_shown(self) -> None:
        """Take note that the main thread's history was cut: what hooks have shown it is out of its sight."""
        self.briefed = False
        self.told.clear()
        self.asked_at, self.asked_terms = 0, frozenset()
        self._main.forget()

    def forget_words(self) -> None:
        """Let go of what a session of hooks said and failed at; on the thread that writes down what happened."""
        with self.turn:
            self.objective = ""
            for worker in (self._main, *self._unmet.values(), *self._agents.values()):
                worker.fix_tracker = FixTracker()

    def task_of(self, worker: SessionWorker) -> str:
        """Return the id of the task that somebody in a session of hooks works on."""
        return task_id(self.scope, self.name, self.key_of(worker))

    def key_of(self, worker: SessionWorker) -> str:
        """Return the key of the task that somebody in a session of hooks works on; main thread: the only one."""
        with self.turn:
            if worker is self._main and len(self._open_tasks) == 1:
                return next(iter(self._open_tasks))
            return worker.key

    def follow(self, task: str, status: str) -> None:
        """Take note of where a task of the client's list stands in a session of hooks."""
        with self.turn:
            if status == "in_progress":
                self._open_tasks[task] = None
            elif status:
                self._open_tasks.pop(task, None)

    def called(self, call: AgentCall) -> None:
        """Take note that a session of hooks called an agent; which one it becomes is told later."""
        with self.turn:
            self._calls[call.call] = call

    def started(self, agent: str, agent_type: str) -> SessionWorker:
        """Return a hook's sub-agent. Its task is certain where one call of its type waits, and no other agent for that.

        Until it is, of the calls that wait the oldest is taken for its own, and nothing is to be written of that.
        """
        with self.turn:
            if agent not in self._agents:
                worker = self._new(agent)
                worker.agent_type = agent_type
                worker.sure = not self._waiting(worker)
                taken = set(self._own.values())
                self._give(agent, next((one for one in self._waiting(worker) if one.call not in taken), None))
                self._make_sure()
            return self._agents[agent]

    def knows(self, agent: str) -> bool:
        """Return whether a hook has told of a sub-agent, since the daemon began."""
        with self.turn:
            return agent in self._agents

    def joined(self, call: str, agent: str) -> None:
        """Take note of which agent a hook says came of which call.

        Where another one was taken for it, the two change places.
        """
        with self.turn:
            known = self._calls.get(call)
            if known is None:
                return
            worker = self._agents.get(agent) or self._new(agent)
            if self._own.get(agent) != call:
                before = self._calls.get(self._own.get(agent, ""))
                other = next((one for one, its in self._own.items() if its == call), None)
                self._give(agent, known)
                if other is not None:
                    self._give(other, before)
                    self._agents[other].sure = False
            worker.sure = True
            self._make_sure()

    def belongs(self, agent: str, key: str, kind: AgentType | None, *, silent: bool = False) -> None:
        """Take note in a session of hooks of an agent's task, as the store has it from an earlier daemon."""
        with self.turn:
            worker = self._agents.get(agent) or self._new(agent)
            worker.key, worker.kind, worker.silent, worker.sure = key, kind, silent, True

    def asked(self, agent: str, prompt: str) -> None:
        """Take note in a session of hooks of an agent's prompt: the call with that prompt is its own, if only one."""
        with self.turn:
            same = [one for one in self._waiting(self._agents[agent]) if one.prompt and one.prompt in prompt]
            if len(same) == 1:
                self.joined(same[0].call, agent)

    def may_be(self, worker: SessionWorker) -> tuple[AgentCall, ...]:
        """Return the calls in a session of hooks that an agent may have come of; none where its task is certain."""
        with self.turn:
            return () if worker.sure else tuple(self._waiting(worker))

    def ready(self, *, even_unsure: bool = False) -> list[SessionWorker]:
        """Return the agents in a session of hooks of whom something is held, and whose task is certain by now.

        With `even_unsure` all of them: what nobody can tell is of a task of the agent's own.
        """
        with self.turn:
            for agent, worker in self._agents.items():
                if even_unsure and not worker.sure:
                    self._give(agent, None)
                    worker.sure = True
            return [worker for worker in self._agents.values() if worker.sure and worker.held]

    def worker(self, agent: str, agent_type: str = "") -> SessionWorker:
        """Return who works in a session of hooks: the main thread where no agent is named."""
        return self.started(agent, agent_type) if agent else self._main

    def is_main(self, worker: SessionWorker) -> bool:
        """Return whether one who works in a session of hooks is the main thread."""
        return worker is self._main

    @property
    def in_progress(self) -> tuple[str, ...]:
        """The keys of the tasks of the client's list that are in progress in a session of hooks."""
        with self.turn:
            return tuple(self._open_tasks)

    def _new(self, agent: str) -> SessionWorker:
        known = self._unmet.pop(agent, None)
        self._agents[agent] = self._made(agent) if known is None else known
        return self._agents[agent]

    def _made(self, agent: str) -> SessionWorker:
        key = f"agent:{agent}"
        seen = {*self._before.get(agent, ()), *self._before.get(task_id(self.scope, self.name, key), ())}
        return SessionWorker(key, seen)

    def _waiting(self, worker: SessionWorker) -> list[AgentCall]:
        """Return the calls of an agent's type that are not certainly somebody's, the oldest first."""
        sure = {self._own.get(agent) for agent, one in self._agents.items() if one.sure}
        return [
            one for one in self._calls.values() if one.call not in sure and one.called_type in (worker.agent_type, "")
        ]

    def _make_sure(self) -> None:
        """Have certain what follows: an agent is of the one call that is left, where no other agent may be of it."""
        for agent, worker in self._agents.items():
            left = [] if worker.sure else self._waiting(worker)
            rivals = [one for one in self._agents.values() if not one.sure and one is not worker]
            if len(left) == 1 and not any(left[0] in self._waiting(one) for one in rivals):
                self._give(agent, left[0])
                worker.sure = True
                self._make_sure()
                return

    def _give(self, agent: str, call: AgentCall | None) -> None:
        worker = self._agents[agent]
        if call is None:
            worker.key, worker.kind, worker.silent = f"agent:{agent}", None, False
            self._own.pop(agent, None)
        else:
            worker.key, worker.kind, worker.silent = call.key, call.kind, call.silent
            self._own[agent] = call.call


class Sessions:
    """The sessions under way, the one used last kept longest."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._turn = threading.Lock()
        self._known: OrderedDict[tuple[str, str], HookSession] = OrderedDict()
        self._private_until = 0.0
        self._persons: OrderedDict[str, None] = OrderedDict()

    def hide_agents(self, session: HookSession | None, event: HookEvent, persons: type[HookEvent]) -> None:
        """Have a session be private that may be a private one's sub-agent's, where hooks do not say whose it is.

        That is one of which nothing was heard that only a person's tells (`persons`), while a private one is under way.
        """
        now, name = time.monotonic(), event.session
        if is_private(self._store.journal, name):
            self._private_until = now + _UNDER_WAY
            return
        with self._turn:
            if isinstance(event, persons):
                self._persons[name] = None
                if len(self._persons) > MOST_SESSIONS:
                    self._persons.popitem(last=False)
            elif name in self._persons:
                self._persons.move_to_end(name)
        if session is None or session.old or name in self._persons or isinstance(event, SessionBegan):
            return
        if now < self._private_until:
            open_session(self._store, SessionRequest(name=name, private=True))

    def hide_fork(self, event: HookEvent) -> None:
        """Have a session of hooks be private that was forked from a private one: it begins with all of its words."""
        known = self._known.get(("", event.session))
        begins = known is None or (known.prompts < 2 and isinstance(event, SessionBegan | PromptGiven))
        origin = fork_told(event.transcript) if begins and event.transcript else ""
        if origin and is_private(self._store.journal, origin) and not is_private(self._store.journal, event.session):
            open_session(self._store, SessionRequest(name=event.session, private=True))

    def placed(self, event: HookEvent, scope: str = "", *, of_commands: bool = False) -> HookSession | None:
        """Return `of` once anything has told where the session of hooks is, None before.

        Goose and Windsurf name no folder with a prompt, and what is learned in no project is told in all. Where the
        folder is a command's (`of_commands`), one that is no project says nothing of the session.
        """
        if scope or event.project or (scope, event.session) in self._known:
            return self.of(event, scope)
        elsewhere = not event.folder or (of_commands and self._place(event).scope == NO_PROJECT)
        return None if elsewhere else self.of(event, scope)

    def of(self, event: HookEvent, scope: str = "") -> HookSession:
        """Return the session of hooks an event is of; `scope` is its project's, with a folder of another machine."""
        with self._turn:
            name = (scope, event.session)
            known = self._known.get(name)
            if known is None:
                root = Path(event.project or event.folder or "/")
                place = Identity(scope=scope, root=root) if scope else self._place(event)
                old = self._is_open(place.scope, event.session)
                known = self._known[name] = HookSession(event.session, place, old=old)
            self._known.move_to_end(name)
            while len(self._known) > MOST_SESSIONS:
                self._known.popitem(last=False)
            return known

    def end(self, name: str, scope: str = "") -> None:
        """Let a session of hooks go, which `of` was told to be of that scope."""
        with self._turn:
            self._known.pop((scope, name), None)

    def forget_words(self) -> None:
        """Let go of what any session of hooks said and failed at; on the thread that writes down what happened."""
        with self._turn:
            known = list(self._known.values())
        for session in known:
            session.forget_words()

    def _place(self, event: HookEvent) -> Identity:
        """Return the project of a session: the one it was opened in, wherever its agent may have gone since.

        The client tells it, or its history: a folder of that which is gone may have been moved.
        """
        settings, told = self._store.runtime.settings, event.project
        if not told:
            begun = folder_told(event.transcript, event.session)
            told = begun if is_folder(begun) else event.folder
        folder = Path("/", told)
        places = (
            project_of(one, worktrees=settings.worktrees, chosen=settings.scope, names=settings.home)
            for one in (folder, *folder.parents[-DEEPEST:])
        )
        here = next(places)
        return next((one for one in (here, *places) if self._is_open(one.scope, event.session)), here)

    def _is_open(self, scope: str, session: str) -> bool:
        return Ref.session(session_id(scope, session)) in self._store.index
