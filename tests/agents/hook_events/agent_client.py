"""What the hooks' tests tell: the events of one session of a coding agent, as its client would."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import Any

from helix.service import Helix
from tests.waiting import MOST_SECONDS


class AgentSession:
    """A session of Claude Code in a project folder."""

    def __init__(self, helix: Helix, project: Path, name: str = "session-1") -> None:
        self.helix = helix
        self.project = project
        self.name = name
        self._calls = count(1)

    def tell(self, event: str, agent: str = "", agent_type: str = "", **fields: Any) -> dict[str, Any]:
        """Tell of an event and return what is answered within it."""
        base: dict[str, Any] = {"session_id": self.name, "cwd": str(self.project), "hook_event_name": event}
        if agent:
            base |= {"agent_id": agent, "agent_type": agent_type or "helix:builder"}
        answer = dict(self.helix.hooks.tell("claude-code", {**base, **fields}))
        said: dict[str, Any] = answer.get("hookSpecificOutput", {})
        assert not said or said["hookEventName"] == event
        return said

    def call(self) -> str:
        return f"toolu_{self.name}_{next(self._calls)}"

    def run(self, command: str, status: int = 0, output: str = "", agent: str = "") -> tuple[str, str]:
        """Run a command; return what the agent is told before and after it."""
        tool: dict[str, Any] = {"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": self.call()}
        before = self.tell("PreToolUse", agent, **tool)
        if status:
            error = f"Exit code {status}\n{output}"
            after = self.tell("PostToolUseFailure", agent, **tool, error=error, is_interrupt=False)
        else:
            response = {"stdout": output, "stderr": "", "interrupted": False}
            after = self.tell("PostToolUse", agent, **tool, tool_response=response)
        return str(before.get("additionalContext", "")), str(after.get("additionalContext", ""))

    def edit(self, file: str, new: str = "new", agent: str = "") -> str:
        """Edit a file of the project; return what the agent is told before."""
        path = str(self.project / file)
        tool: dict[str, Any] = {
            "tool_name": "Edit",
            "tool_input": {"file_path": path, "old_string": "old", "new_string": new},
            "tool_use_id": self.call(),
        }
        before = self.tell("PreToolUse", agent, **tool)
        self.tell("PostToolUse", agent, **tool, tool_response={"filePath": path})
        return str(before.get("additionalContext", ""))

    def agent_call(self, prompt: str, called: str = "helix:builder", **more: Any) -> tuple[str, Mapping[str, Any]]:
        """Call an agent; return the call's id and the call as it is made then."""
        ident = self.call()
        given = {"description": "d", "prompt": prompt, "subagent_type": called, **more}
        said = self.tell("PreToolUse", tool_name="Agent", tool_input=given, tool_use_id=ident)
        return ident, said.get("updatedInput", given)

    def agent_runs(self, agent: str, message: str, called: str = "helix:builder", **fields: Any) -> None:
        """Have a sub-agent begin and end with a message, doing nothing in between."""
        self.tell("SubagentStart", agent, called)
        self.agent_ends(agent, message, called, **fields)

    def agent_ends(self, agent: str, message: str, called: str = "helix:builder", **fields: Any) -> None:
        self.tell("SubagentStop", agent, called, last_assistant_message=message, stop_hook_active=False, **fields)

    def task(self, ident: str, status: str = "", agent: str = "", **metadata: Any) -> None:
        """Change a task of the client's list."""
        given = {"taskId": ident, **({"status": status} if status else {}), "metadata": metadata}
        self.tell(
            "PostToolUse",
            agent,
            tool_name="TaskUpdate",
            tool_input=given,
            tool_response={"success": True, "taskId": ident},
        )

    def settled(self) -> Helix:
        """Wait until what was told is written down, and return the service."""
        assert self.helix.hooks.settle(MOST_SECONDS)
        return self.helix
