"""The only error tree: every error a person can meet has a code, a sentence and a next step.

The `code` is stable and the same in GraphQL `extensions.code`, in `--json` output and in the log; `exit_code` is
what the command line leaves with. Messages say what, which, and what next.
"""

from __future__ import annotations

import errno
from collections.abc import Iterable


def did_you_mean(word: str, known: Iterable[str], most: int = 3, *, cutoff: float = 0.6) -> str:
    """Return an error's question whether a known word most like this one was meant; "" for none."""
    from difflib import get_close_matches  # only where something is wrong: hooks must start fast

    near = get_close_matches(word, list(known), most, cutoff)
    return f"did you mean {' or '.join(near)}?" if near else ""


class HelixError(Exception):
    """Base of every error Helix raises on purpose."""

    code = "INTERNAL"
    exit_code = 1

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} ({self.hint})" if self.hint else self.message


class InvalidInputError(HelixError):
    """The request itself is wrong: an unknown kind, an empty text, a number out of range."""

    code = "INVALID_INPUT"
    exit_code = 2


class NotFoundError(HelixError):
    """No node, edge, model or file of that id or name."""

    code = "NOT_FOUND"
    exit_code = 3


class ConflictError(HelixError):
    """The request collides with what is there, such as a name already in use."""

    code = "CONFLICT"
    exit_code = 4


class NotARepositoryError(InvalidInputError):
    """A path handed to `ingest git` is not a git repository."""

    code = "NOT_A_REPOSITORY"


class ConfigError(HelixError):
    """A setting has a value that cannot be read or used."""

    code = "CONFIG"
    exit_code = 2


class StoreError(HelixError):
    """Something about the files of a store."""

    code = "STORE"
    exit_code = 5


class StoreLockedError(StoreError):
    """Another process owns the store: nothing is wrong with it."""

    code = "STORE_LOCKED"


class StoreCorruptError(StoreError):
    """A file of the store cannot be read as what it should be."""

    code = "STORE_CORRUPT"


class StoreTooNewError(StoreError):
    """The store was written by a newer Helix than this one."""

    code = "STORE_TOO_NEW"


class DiskFullError(StoreError):
    """The disk or quota is full: nothing was written, nothing is lost."""

    code = "DISK_FULL"


class EngineError(StoreError):
    """The server that keeps the journal cannot be reached, or does not say that a change is durable."""

    code = "ENGINE"


class NotHomeError(EngineError):
    """Another process writes the tenant by now."""

    code = "NOT_HOME"


class GraphUnavailableError(StoreError):
    """The graph is being rebuilt: recall answers lexically, graph queries have to wait."""

    code = "GRAPH_UNAVAILABLE"


class EmbeddingSpaceError(StoreError):
    """The store's vectors belong to another embedding space than the model that is set."""

    code = "EMBEDDING_SPACE"


class ModelError(HelixError):
    """An embedding or reranking model is missing, damaged or of the wrong dimension."""

    code = "MODEL"
    exit_code = 6


class CypherRefusedError(HelixError):
    """The Cypher gate lets only reading statements through."""

    code = "CYPHER_REFUSED"
    exit_code = 7


class QueryTimeoutError(HelixError):
    """A query ran into its time limit."""

    code = "TIMEOUT"
    exit_code = 8


class DaemonError(HelixError):
    """The daemon cannot be started, reached or stopped."""

    code = "DAEMON"
    exit_code = 9


class UnauthorizedError(HelixError):
    """The bearer token, cookie, Host or Origin is missing or wrong, or the key or passphrase of a strand is."""

    code = "UNAUTHORIZED"
    exit_code = 10


class GuardError(HelixError):
    """A background job was about to take more of the store out of recall than `guard_share` allows."""

    code = "GUARD"
    exit_code = 12


class PersonNeededError(HelixError):
    """An agent asked for what only a person may: what raises trust, and what nothing brings back."""

    code = "PERSON_NEEDED"
    exit_code = 13


class ForbiddenError(HelixError):
    """The key or the person is known, and may not do this: their role, their scopes or their tenant's quota says so."""

    code = "FORBIDDEN"
    exit_code = 14


class TooManyRequestsError(HelixError):
    """A tenant or a key asks a server more at once, or in a minute, than it may; later it may again."""

    code = "TOO_MANY_REQUESTS"
    exit_code = 15


class PausedError(HelixError):
    """Capture is paused: nothing new is ingested, and no background job runs, until `helix pause --off`."""

    code = "PAUSED"
    exit_code = 11


def of_the_system(error: OSError) -> HelixError:
    """Return the error for what the operating system refused, with the file and what to do about it."""
    words = f"{error.filename}: {error.strerror}" if error.filename and error.strerror else str(error)
    match error.errno:
        case errno.ENOSPC | errno.EDQUOT:
            return DiskFullError(f"no room: {words}", hint="make room and try again: nothing is lost")
        case errno.ENOENT:
            return NotFoundError(words, hint="check the path")
        case errno.ENAMETOOLONG | errno.ELOOP | errno.ENOTDIR:
            return InvalidInputError(f"{words:.300}", hint="check the path")
        case errno.EISDIR:
            return StoreError(words, hint="a folder is in a file's place: move it away and try again")
        case errno.EEXIST:
            return StoreError(words, hint="something is in its place: move it away and try again")
        case errno.EACCES | errno.EPERM:
            return StoreError(words, hint="see who owns it and what its permissions are: `ls -ld`")
        case errno.EROFS:
            return StoreError(words, hint="its disk is mounted read-only: mount it for writing, or set another store")
        case _:
            return StoreError(words, hint="`helix config` shows which files and folders are used")


def lacks_extra(what: str, extra: str, error: ImportError) -> ConfigError:
    """Return the error for a part of Helix that takes an extra of the package which is not installed."""
    words = f"{what} takes more than what is installed: {error.name} is missing"
    return ConfigError(words, hint=f"pip install 'helix-memory[{extra}]'")
