"""Evidence: what the end of a command says of a task, as far as it says anything."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from helix.model.requests import kept
from helix.model.worded import Worded


@kept
class EvidenceKind(Worded):
    """What was run. `other` is a task's own verify command that is none of the known tools.

    `person` is no command: somebody has looked, and says whether it holds.
    """

    TEST = "test", "A test run."
    BUILD = "build", "A build."
    LINT = "lint", "A linter, formatter or type checker."
    COMMIT = "commit", "A commit that landed."
    REVERT = "revert", "A commit that took another one back."
    OTHER = "other", "The task's own command for its check, no known tool."
    PERSON = "person", "Somebody looked, and said whether it holds."


@kept
class Verification(Worded):
    """What all the evidence of a task comes to."""

    PASSED = "passed", "The evidence says that the work holds."
    FAILED = "failed", "The evidence says that it does not."
    NONE = "none", "There is no evidence."


@kept
@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """One command that says whether the work holds. There is none where its end leaves that open.

    `id` is the action's, so that one told twice counts once. `verify` marks the task's own verify command. `commit` is
    the commit that landed, of a revert the one taken back (as far as the command names it: by its hash, or as `HEAD`),
    and `subject` the first line of what that says, by the output. The counts are None where the output gives none.
    """

    kind: EvidenceKind
    command: str
    passed: bool
    id: str = ""
    exit_status: int | None = None
    tests_passed: int | None = None
    tests_failed: int | None = None
    commit: str = ""
    subject: str = ""
    verify: bool = False
    at: datetime | None = None
