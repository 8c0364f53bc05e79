"""Chunking: how a task was done becomes a pattern, as SOAR makes one rule of the steps that reached a goal.

Not measured, as no public set has outcomes of tasks as agents word them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated

from helix.agents.observer.candidates import SURENESS
from helix.agents.tasks.board import learn
from helix.memory.remember.remember import remember
from helix.memory.remember.request import StoreRequest
from helix.model.candidate import Certainty
from helix.model.memory import GLOBAL_SCOPE, Kind
from helix.model.provenance import Trust
from helix.model.reports import StoreResult
from helix.store.store import Store
from helix.text.regex import regex

STEPS = "steps"
"""Attribute of a pattern: its steps in order."""
_STEP = regex(r"^\s*(?:\d{1,3}[.)]|[-*•])\s+(\S.*)$")
_HARMLESS = regex(
    r"\b(?:no|0|zero|none|nothing|without(?: any)?)\s+(?:fail\w*|broke\w*|errors?|problems?|issues?|regressions?)\b",
    re.I,
)
_MENDED = regex(
    r"\b(fixed|fixes|solved|resolved|repaired|mended|corrected)\s+(?:(?:the|a|an|all|both|every|this|that|its|of)\s+)*"
    r"(?:[\w./\-]+\s+){0,2}?(?:fail\w*|broken|errors?|crash\w*|bugs?|red)\b",
    re.IGNORECASE,
)
_FAILED = regex(
    r"\b(?:fail\w*|block\w*|skip\w*|abort\w*|abandon\w*|error\w*|crash\w*|broke\w*|breaks?|stuck|partial\w*|incomplete"
    r"|unsuccessful|unfinished|unstable|flaky|red|regress\w*|worse|gave up|timed out|reverted|rolled back"
    r"|but|except|however|although|unless|not|never|cannot|none|nothing"
    r"|(?:did|does|do|ca|could|wo|would|is|are|was|were|has|have)n['\u2019]?t)\b|[\u274c\u2717\u2718\u26a0\U0001f534]",
    re.IGNORECASE,
)
_SUCCEEDED = regex(
    r"\b(?:success\w*|succeed\w*|deliver\w*|pass\w*|done|ok|okay|works?|worked|fixed|fixes|solved|resolved|repaired"
    r"|mended|corrected|green|complete\w*|merged)\b|[\u2705\u2713\u2714]|\U0001f7e2",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkRequest:
    """A task that is over: what it was, what came of it, and how it was gone about; `task_id` where it is on the board.

    `agent` is whose words these are; where nobody is named they are an agent's all the same.
    """

    task: Annotated[str, "What was to be done."]
    outcome: Annotated[str, "What came of it, such as `success: the tests pass`."]
    approach: Annotated[str, "How it was gone about; lines that are numbered are kept as steps."]
    scope: str = GLOBAL_SCOPE
    task_id: Annotated[str, "The task that it was learned in, by its id on the board."] = ""
    agent: str = ""
    source: str = ""


def chunk(store: Store, request: ChunkRequest) -> StoreResult | None:
    """Store a task's approach as a pattern for tasks like it, for the observer; None where nothing says that it worked.

    An approach in steps keeps them as such. Raises InvalidInputError where task or approach is empty.
    """
    if not succeeded(request.outcome):
        return None
    steps = [found[1].strip() for line in request.approach.splitlines() if (found := _STEP.match(line))]
    result = remember(
        store,
        StoreRequest(
            trigger=request.task,
            resolution=request.approach,
            kind=Kind.PATTERN,
            scope=request.scope,
            confidence=SURENESS[Certainty.MEDIUM],
            trust=Trust.AGENT_INFERRED,
            source=request.source,
            agent=request.agent,
            attributes={STEPS: steps} if len(steps) > 1 else None,
        ),
    )
    if request.task_id:
        learn(store, request.task_id, result.id)
    return result


def succeeded(outcome: str) -> bool:
    """Return whether a task's outcome tells the observer that it was done; a word of failure outweighs any of success.

    A failure that is denied, or said to be mended, is none.
    """
    said = _MENDED.sub(r" \1 ", _HARMLESS.sub(" ", outcome))
    return _FAILED.search(said) is None and (
        _SUCCEEDED.search(said) is not None or _HARMLESS.search(outcome) is not None
    )
