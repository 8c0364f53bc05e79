"""Roles: which role an operation takes where many share a server; what nobody may do there by a request.

The owner of a machine may do everything on it: this is for a server that others reach by keys.
"""

from __future__ import annotations

from helix.model.principal import Role
from helix.operations.listed import Operation

OF_THE_MACHINE = frozenset(
    {
        *("export_jsonl", "export_graphml", "export_markdown", "backup", "restore_backup", "recover"),
        *("ingest_git", "ingest_notes", "ingest_transcript", "ingest_bulk", "import_memories"),
        *("export_strand", "import_strand", "clone_strand", "inspect_strand", "diff_strands"),
        *("keys", "new_key", "import_key", "trust_key", "revoke_key", "shares", "new_share", "revoke_share"),
        *("sync", "watch_sync", "forget_place", "synced_places"),
        *("config", "agents", "logs"),
    }
)
"""What names files, places or keys of the machine that serves: whoever runs it may, at its own command line."""

FOR_ADMINS = frozenset(
    {
        *("hard_forget", "erase_plan", "scan_secrets", "acknowledge_loss", "roll_back_to", "tag_version"),
        *("rebuild", "reembed", "decay", "decay_edges", "prune", "pause", "pause_worker", "cancel_work"),
    }
)
"""What changes or reads the store as a whole, beyond what one person wrote."""

ADDING = frozenset(
    {
        *("store", "edit", "chunk", "record_episode", "open_session", "ingest_jsonl", "accept_candidate", "note_gap"),
        *("observe_explorer", "observe_planner", "observe_builder", "observe_session"),
        *("save_exploration", "save_plan", "create_workspace", "edge"),
    }
)
"""What keeps something new, and is refused where a tenant keeps as much as it may."""

WITHIN_SCOPES = frozenset(
    {
        *("recall", "memories", "facets", "episodes", "sessions", "brief", "get", "history"),
        *("explorer_context", "planner_context", "builder_context", "at_action"),
        *("store", "edit", "forget", "restore", "confirm", "hold", "reject", "accept", "chunk"),
        *("record_episode", "open_session", "close_session"),
    }
)
"""What a key that is bound to scopes may ask for: each takes a scope, or names one memory that lies in one."""


def least_role(operation: Operation) -> Role | None:
    """Return the least role that may ask for an operation; None where nobody may by a request."""
    if operation.name in OF_THE_MACHINE:
        return None
    if operation.name in FOR_ADMINS:
        return Role.ADMIN
    return Role.AGENT if operation.writes else Role.READER
