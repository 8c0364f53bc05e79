"""Evidence: what the end of a command says of a task, as far as it says anything."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from helix.model.requests import kept


@kept
class EvidenceKind(StrEnum):
    """What was run. `other` is a task's own verify command that is none of the known tools.

    `person` is no command: somebody has looked, and says whether it holds.
    """

    TEST = "test"
    BUILD = "build"
    LINT = "lint"
    COMMIT = "commit"
    REVERT = "revert"
    OTHER = "other"
    PERSON = "person"


@kept
class Verification(StrEnum):
    """What all the evidence of a task comes to."""

    PASSED = "passed"
    FAILED = "failed"
    NONE = "none"


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
