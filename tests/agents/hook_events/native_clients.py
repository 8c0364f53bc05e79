"""Each client's session in its own words: payloads as the real client sends them, or as its documentation has them.

Codex CLI 0.169, Gemini CLI 0.61, opencode 1.18 and Cline's command line 3.0 were run against a scripted model to see
theirs.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import Any

from helix.service import Helix

Payload = dict[str, Any]


class NativeSession:
    """A session of a client: `prompt`, `run` and `edit` return what its agent gets to see."""

    client = ""
    shown_at = ("additionalContext",)

    def __init__(self, helix: Helix, project: Path, name: str = "s-1") -> None:
        self.helix, self.project, self.name = helix, project, name
        self.calls = count(1)
        self.run_in: Payload = {}
        """What a call of its shell has of the folder that it is run in; of Codex that is in the history."""

    def ask(self, payload: Payload) -> str:
        answer: Mapping[str, Any] = self.helix.hooks.tell(self.client, payload)
        said = answer.get("hookSpecificOutput", answer)
        if "hookEventName" in said:
            assert said["hookEventName"] == payload.get("hook_event_name", payload.get("hookEventName"))
        return str(said.get(self.shown_at[0], ""))

    def base(self, event: str) -> Payload:
        return {"session_id": self.name, "cwd": str(self.project), "hook_event_name": event}

    def begin(self) -> str:
        return self.ask({**self.base("SessionStart"), "source": "startup"})

    def prompt(self, text: str) -> str:
        return self.ask({**self.base("UserPromptSubmit"), "prompt": text})

    def run(self, command: str, status: int = 0, output: str = "") -> str:
        raise NotImplementedError

    def edit(self, file: str) -> str:
        raise NotImplementedError


class Codex(NativeSession):
    client = "codex"

    def run(self, command: str, status: int = 0, output: str = "") -> str:
        call = f"call_{next(self.calls)}"
        history = self.project.parent / f"rollout-{self.name}.jsonl"
        tool = {
            **self.base("PreToolUse"),
            "transcript_path": str(history),
            "turn_id": "t",
            "tool_name": "Bash",
            "tool_input": {"command": command},
            "tool_use_id": call,
        }
        before = self.ask(tool)
        item = {"type": "CommandExecution", "id": call, "exit_code": status, "aggregated_output": output, **self.run_in}
        with history.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"type": "event_msg", "payload": {"type": "item_completed", "item": item}}) + "\n")
        return before + self.ask({**tool, "hook_event_name": "PostToolUse", "tool_response": output})

    def edit(self, file: str) -> str:
        patch = f"*** Begin Patch\n*** Update File: {file}\n@@\n-old\n+new\n*** End Patch"
        tool = {**self.base("PreToolUse"), "tool_name": "apply_patch", "tool_input": {"command": patch}}
        before = self.ask({**tool, "tool_use_id": f"call_{next(self.calls)}"})
        return before + self.ask({**tool, "hook_event_name": "PostToolUse", "tool_response": "Done!"})


class Gemini(NativeSession):
    client = "gemini"

    def base(self, event: str) -> Payload:
        return {**super().base(event), "timestamp": f"2026-11-24T03:12:{next(self.calls):02d}.494Z"}

    def prompt(self, text: str) -> str:
        said = f"<hook_context>what a hook said</hook_context>\n\n{text}"
        return self.ask({**self.base("BeforeAgent"), "prompt": said})

    def run(self, command: str, status: int = 0, output: str = "") -> str:
        tool = {"tool_name": "run_shell_command", "tool_input": {"command": command, **self.run_in}}
        assert self.ask({**self.base("BeforeTool"), **tool}) == ""  # it would not be read there
        code = f"Exit Code: {status}\n" if status else ""
        said = f"<untrusted_context>\nOutput: {output or '(empty)'}\n{code}Process Group PGID: 17\n</untrusted_context>"
        answer = {"llmContent": said, "returnDisplay": ""}
        return self.ask({**self.base("AfterTool"), **tool, "tool_response": answer})

    def edit(self, file: str) -> str:
        given = {"file_path": str(self.project / file), "old_string": "old", "new_string": "new"}
        tool = {"tool_name": "replace", "tool_input": given}
        assert self.ask({**self.base("BeforeTool"), **tool}) == ""
        return self.ask({**self.base("AfterTool"), **tool, "tool_response": {"llmContent": "Successfully modified"}})


class Opencode(NativeSession):
    client = "opencode"
    shown_at = ("context",)

    def begin(self) -> str:
        return self.ask({**self.base("session.created"), "source": "startup"})

    def prompt(self, text: str) -> str:
        return self.ask({**self.base("chat.message"), "prompt": text})

    def run(self, command: str, status: int = 0, output: str = "") -> str:
        return self._tool("bash", {"command": command, **self.run_in}, {"exit": status, "output": output})

    def edit(self, file: str) -> str:
        given = {"filePath": str(self.project / file), "oldString": "old", "newString": "new"}
        return self._tool("edit", given, {"output": "Edit applied successfully."})

    def _tool(self, tool: str, given: Payload, end: Payload) -> str:
        call = {"tool_name": tool, "tool_use_id": f"call_{next(self.calls)}", "tool_input": given}
        before = self.ask({**self.base("tool.execute.before"), **call})
        return before + self.ask({**self.base("tool.execute.after"), **call, **end})


class Cursor(NativeSession):
    client = "cursor"
    shown_at = ("additional_context",)

    def base(self, event: str) -> Payload:
        return {
            "conversation_id": self.name,
            "generation_id": "g",
            "hook_event_name": event,
            "cursor_version": "2.4",
            "workspace_roots": [str(self.project)],
        }

    def begin(self) -> str:
        return self.ask({**self.base("sessionStart"), "session_id": self.name, "composer_mode": "agent"})

    def prompt(self, text: str) -> str:
        return self.ask({**self.base("beforeSubmitPrompt"), "prompt": text, "attachments": []})

    def run(self, command: str, status: int = 0, output: str = "") -> str:
        given = {"command": command, "working_directory": str(self.project)}
        answer = json.dumps({"exitCode": status, "stdout": output})
        return self._tool("Shell", given, {"tool_output": answer, "duration": 5})

    def edit(self, file: str) -> str:
        given = {"path": str(self.project / file), "contents": "new"}
        return self._tool("Write", given, {"tool_output": "{}"})

    def _tool(self, tool: str, given: Payload, end: Payload) -> str:
        call = {"tool_name": tool, "tool_use_id": f"call_{next(self.calls)}", "tool_input": given}
        assert self.ask({**self.base("preToolUse"), **call}) == ""
        return self.ask({**self.base("postToolUse"), **call, **end})


class VSCode(NativeSession):
    client = "vscode"

    def base(self, event: str) -> Payload:
        return {"sessionId": self.name, "cwd": str(self.project), "hookEventName": event}

    def run(self, command: str, status: int = 0, output: str = "") -> str:
        answer = f"{output}\n\nCommand exited with code {status}" if status else output
        return self._tool("run_in_terminal", {"command": command, "explanation": "e"}, answer)

    def edit(self, file: str) -> str:
        given = {"filePath": str(self.project / file), "oldString": "old", "newString": "new"}
        return self._tool("replace_string_in_file", given, "File edited successfully")

    def _tool(self, tool: str, given: Payload, answer: str) -> str:
        call = {"tool_name": tool, "tool_use_id": f"call_{next(self.calls)}", "tool_input": given}
        before = self.ask({**self.base("PreToolUse"), **call})
        return before + self.ask({**self.base("PostToolUse"), **call, "tool_response": answer})


class Cline(NativeSession):
    """Its command line, which reads an answer beside a tool alone."""

    client = "cline"
    shown_at = ("contextModification",)

    def base(self, event: str) -> Payload:
        own = {"agent_id": "agent_1", "parent_agent_id": None, "workspaceRoots": [str(self.project)]}
        return {"clineVersion": "", "timestamp": f"t-{next(self.calls)}", "taskId": self.name, "hookName": event, **own}

    def begin(self) -> str:
        assert self.ask({**self.base("agent_start"), "taskStart": {"taskMetadata": {}}}) == ""
        return self.run("true")

    def prompt(self, text: str) -> str:
        return self.ask({**self.base("prompt_submit"), "userPromptSubmit": {"prompt": text, "attachments": []}})

    def run(self, command: str, status: int = 0, output: str = "") -> str:
        error = {"error": f"Command exited with code {status}"} if status else {}
        result = {"query": command, "result": output, "success": not status, **error}
        return self._tool("run_commands", {"commands": [command]}, [result])

    def edit(self, file: str) -> str:
        given = {"path": str(self.project / file), "old_text": "old", "new_text": "new"}
        return self._tool("editor", given, {"query": file, "result": "edited", "success": True})

    def _tool(self, tool: str, given: Payload, output: object) -> str:
        call = {"id": f"call_{next(self.calls)}", "name": tool, "input": given}
        before = self.ask({**self.base("tool_call"), "tool_call": call})
        return before + self.ask({**self.base("tool_result"), "tool_result": {**call, "output": output}})


class ClineExtension(Cline):
    """Its extension: names in another shape, and every parameter a text."""

    def begin(self) -> str:
        self.ask({**self.base("TaskStart"), "taskStart": {"taskMetadata": {}}})
        return self.run("true")

    def prompt(self, text: str) -> str:
        return self.ask({**self.base("UserPromptSubmit"), "userPromptSubmit": {"prompt": text}})

    def _tool(self, tool: str, given: Payload, output: object) -> str:
        given = {name: held if isinstance(held, str) else json.dumps(held) for name, held in given.items()}
        call = {"toolName": tool, "parameters": given}
        before = self.ask({**self.base("PreToolUse"), "preToolUse": call})
        told = {**call, "result": json.dumps(output), "success": True}
        return before + self.ask({**self.base("PostToolUse"), "postToolUse": told})


class Continue(NativeSession):
    """Its command `cn`, which is said to read an answer before a tool alone."""

    client = "continue"

    def begin(self) -> str:
        return super().begin() + self.run("true")

    def run(self, command: str, status: int = 0, output: str = "") -> str:
        error = f"Error (exit code {status}): {output}"
        end = {"hook_event_name": "PostToolUseFailure", "error": error} if status else {"tool_response": output}
        return self._tool("Bash", {"command": command}, end)

    def edit(self, file: str) -> str:
        given = {"filepath": str(self.project / file), "content": "new"}
        return self._tool("Write", given, {"tool_response": "Successfully created file"})

    def _tool(self, tool: str, given: Payload, end: Payload) -> str:
        call = {"tool_name": tool, "tool_use_id": f"call_{next(self.calls)}", "tool_input": given}
        before = self.ask({**self.base("PreToolUse"), **call})
        return before + self.ask({**self.base("PostToolUse"), **call, **end})


SESSIONS = (Codex, Gemini, Opencode, Cursor, VSCode, Cline, ClineExtension, Continue)
