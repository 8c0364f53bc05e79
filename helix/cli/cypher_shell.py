"""The Cypher shell: lines in, results out, with history, completion and commands of its own."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import click
from prompt_toolkit import PromptSession
from prompt_toolkit.history import FileHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

from helix import files
from helix.cli.cypher_completion import CypherCompleter, GraphSchema
from helix.cli.cypher_render import RowFormat
from helix.cli.cypher_session import CypherSession, is_finished, typed_statements
from helix.errors import HelixError, InvalidInputError

_HISTORY = "cypher_history"
_HELP = """\
A statement ends with a semicolon and Enter, or with an empty line. Tab completes, Ctrl-C drops the line, Ctrl-D leaves.
  :schema               labels and relationships with their properties
  :param name=value     set $name, to JSON or else to plain text
  :params               the parameters
  :format table|json|csv
  :limit N              at most N rows; :limit alone goes back to the setting
  :timeout MS           give up after MS milliseconds; :timeout alone goes back to the setting
  :clear                clear the screen
  :quit                 leave"""


class Shell:
    """Reads statements and `:commands` from the terminal until the end of input; an error ends no shell."""

    def __init__(self, session: CypherSession) -> None:
        session.raise_limit = ":limit"
        self._session = session
        self._say = session.invocation.say
        self._commands: dict[str, Callable[[str], None]] = {
            ":help": lambda _: self._say(_HELP),
            ":schema": lambda _: self._show_schema(),
            ":param": session.define,
            ":params": lambda _: self._show_params(),
            ":format": self._set_format,
            ":limit": self._set_limit,
            ":timeout": self._set_timeout,
            ":clear": lambda _: click.clear(),
            ":quit": self._leave,
        }
        arguments = {name: () for name in self._commands} | {":format": tuple(RowFormat)}
        self._completer = CypherCompleter(arguments, session.params)

    def run(self) -> None:
        """Read and run until Ctrl-D or `:quit`."""
        self._attempt(self._load_schema)
        self._say("Cypher that only reads. :help for help, Ctrl-D to leave.")
        prompt: PromptSession[str] = PromptSession(
            "helix> ",
            multiline=True,
            prompt_continuation=lambda width, line, wrapped: "... ".rjust(width),
            history=FileHistory(private_file(self._session.invocation.settings.home / _HISTORY)),
            completer=self._completer,
            complete_while_typing=False,
            key_bindings=_keys(),
        )
        while True:
            try:
                self._attempt(self.handle, prompt.prompt())
            except KeyboardInterrupt:
                continue
            except EOFError:
                return

    def handle(self, text: str) -> None:
        """Run what was typed: one `:command`, or statements; raises EOFError to leave."""
        line = text.strip()
        if not line.startswith(":"):
            for statement in typed_statements(text):
                self._session.run(statement)
            return
        name, _, argument = line.partition(" ")
        command = self._commands.get(name)
        if command is None:
            raise InvalidInputError(f"there is no command {name}", hint=f"one of: {', '.join(self._commands)}")
        command(argument.strip())

    def _attempt(self, action: Callable[..., None], *arguments: str) -> None:
        try:
            action(*arguments)
        except HelixError as error:
            self._say(f"error [{error.code}]: {error.message}")
            if error.hint:
                self._say(f"hint: {error.hint}")
        except KeyboardInterrupt:
            self._say("stopped waiting")

    def _load_schema(self) -> None:
        self._completer.schema = GraphSchema.of(self._session.invocation.run("graph_schema")["graphSchema"])

    def _show_schema(self) -> None:
        self._load_schema()
        schema = self._completer.schema
        rows = [(f"(:{name})", ", ".join(properties)) for name, properties in sorted(schema.labels.items())]
        rows += [(f"[:{name}]", ", ".join(properties)) for name, properties in sorted(schema.relationships.items())]
        self._session.invocation.out.table(("NAME", "PROPERTIES"), rows)

    def _show_params(self) -> None:
        rows = [(f"${name}", json.dumps(value, ensure_ascii=False)) for name, value in self._session.params.items()]
        self._session.invocation.out.table(("NAME", "VALUE"), rows)

    def _set_format(self, word: str) -> None:
        if word not in tuple(RowFormat):
            raise InvalidInputError(f"{word!r} is not a format", hint=f"one of: {', '.join(RowFormat)}")
        self._session.format = RowFormat(word)

    def _set_limit(self, word: str) -> None:
        self._session.limit = _count(word)

    def _set_timeout(self, word: str) -> None:
        self._session.timeout_ms = _count(word)

    def _leave(self, word: str) -> None:
        raise EOFError


def private_file(path: Path) -> str:
    """Make the Cypher shell's history, a file that only its owner may read, if it is missing; return its path."""
    files.private_folder(path.parent)
    os.close(files.create_private(path, append=True))
    return str(path)


def _count(word: str) -> int | None:
    """Return a whole number above 0, or None for no word at all."""
    if not word:
        return None
    if not word.isascii() or not word.isdigit() or not 0 < int(word[:10]) < 2**31:
        raise InvalidInputError(f"{word!r} is not a whole number above 0", hint="such as 100")
    return int(word)


def _keys() -> KeyBindings:
    keys = KeyBindings()

    @keys.add("enter")
    def _(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if buffer.complete_state is not None and buffer.complete_state.current_completion is not None:
            buffer.complete_state = None  # the word that was chosen stays, the menu goes
        elif is_finished(buffer.text):
            buffer.validate_and_handle()
        else:
            buffer.insert_text("\n")

    return keys
