"""Memory limit: how much memory this process may still take, of those that read what others make."""

from __future__ import annotations

import sys

from helix import files


def limit_memory(more_bytes: int | None) -> None:
    """Have allocations beyond so many bytes fail from here on, beside what is reserved already; None: let all be made.

    What a graph's process or a language model's was asked for is answered with an error then. Only Linux keeps to it.
    """
    if not sys.platform.startswith("linux"):
        return
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    limit = hard if more_bytes is None else reserved_bytes() + more_bytes
    resource.setrlimit(resource.RLIMIT_DATA, (limit if hard < 0 else min(limit, hard), hard))


def reserved_bytes() -> int:
    """Return how much memory this process has reserved, of what `limit_memory` limits; 0 where it limits nothing."""
    if not sys.platform.startswith("linux"):
        return 0
    said = files.read_text("/proc/self/status").partition("VmData:")[2]
    return int(said.split(maxsplit=1)[0]) << 10
