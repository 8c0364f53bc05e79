"""Parser: reads a shell line as a tree of commands, by the grammar of bash and in time that grows as the line does.

From the tree come the simple commands in order, each with the folder that the line runs it in. It is written here
because the grammar that there is a library for, tree-sitter-bash 0.25, takes `cd a && b 2>&1 | c` for
`(cd a && b) | c`, and `! a | b` for `(! a) | b`, without an error: the very lines whose status is asked about.

A grammar of bash, as far as a line of commands needs it.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from posixpath import join, normpath

from helix.text.command_line.lexer import MOST_DEPTH, ShellToken, Tokens, Unclosed


@dataclass(frozen=True, slots=True)
class Simple:
    """One command: its words with quotes resolved and without redirections, and the assignments before it as typed.

    `document` tells that it reads a here-document.
    """

    words: tuple[str, ...]
    assignments: tuple[str, ...] = ()
    document: bool = False


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Commands joined by `|`, each in a shell of its own where there are several; `negated` by `!`."""

    stages: tuple[Node, ...]
    negated: bool


@dataclass(frozen=True, slots=True)
class AndOr:
    """Pipelines with what joins each to what stands before it: `&&` or `||`, and nothing before the first."""

    parts: tuple[tuple[str, Node], ...]


@dataclass(frozen=True, slots=True)
class List:
    """What is run one after the other, each with whether it is left in the background."""

    parts: tuple[tuple[Node, bool], ...]


@dataclass(frozen=True, slots=True)
class Group:
    """What stands in brackets: `(` runs it in a shell of its own, `{` in the same."""

    body: Node
    own_shell: bool


@dataclass(frozen=True, slots=True)
class Compound:
    """What decides by itself what runs: a loop, `if`, `case`, a test, a function; `parts` are the commands within."""

    name: str
    parts: tuple[Node, ...] = ()


Node = Simple | Pipeline | AndOr | List | Group | Compound


@dataclass(frozen=True, slots=True)
class Line:
    """A line that was read; where it is not `certain`, the shell would not run it, or not as it was read."""

    body: List
    certain: bool


def commands(node: Node, piped: bool = False) -> Iterator[tuple[Simple, bool]]:
    """Yield the commands of a parsed command line in order, each with whether it reads what another one wrote."""
    match node:
        case Simple():
            yield node, piped
        case Pipeline():
            for place, stage in enumerate(node.stages):
                yield from commands(stage, piped or place > 0)
        case AndOr():
            for _, part in node.parts:
                yield from commands(part, piped)
        case List():
            for part, _ in node.parts:
                yield from commands(part, piped)
        case Group():
            yield from commands(node.body, piped)
        case Compound():
            for part in node.parts:
                yield from commands(part, piped)


LONGEST_LINE = 20_000
MOST_COMMANDS = 100

_MISPLACED = frozenset({"then", "do", "done", "elif", "else", "fi", "esac", "}", "in", "!"})
_LOOPS = ("for", "select", "while", "until")
_COMPOUNDS = frozenset({"{", "if", "case", "function", "coproc", "[[", *_LOOPS})
_DECLARE = frozenset({"alias", "declare", "export", "local", "readonly", "typeset"})
"""Commands whose arguments may be lists in brackets."""
_ANOTHER_BRACKET = re.compile(r"(?=\()")
_FUNCTION = re.compile(r"[ \t]*\([ \t]*\)")


def read(line: str) -> Line:
    """Parse a shell's command line into its commands; never raises.

    What does not belong where it stands is passed over, and what is behind the first LONGEST_LINE characters or
    MOST_COMMANDS simple commands is left out; then it is not certain.
    """
    return _Reader(line[:LONGEST_LINE]).line(whole=len(line) <= LONGEST_LINE)


class _Reader:
    """Reads one line by descent; where the grammar is broken it notes that, and goes on."""

    def __init__(self, line: str) -> None:
        self._tokens = Tokens(line, self._substitution)
        self._ahead: ShellToken | None = None
        self._certain = True
        self._depth = 0
        self._left = MOST_COMMANDS

    def line(self, *, whole: bool) -> Line:
        body = self._list(may_be_empty=True)
        return Line(body, whole and self._certain and self._tokens.certain)

    def _peek(self) -> ShellToken:
        if self._ahead is None:
            self._ahead = self._tokens.next() if self._left >= 0 else ShellToken("end", "", "")
        return self._ahead

    def _take(self) -> ShellToken:
        token, self._ahead = self._peek(), None
        return token

    def _accept(self, *texts: str) -> bool:
        """Take the next token where it is one of some operators or reserved words, and return whether it was."""
        found = self._peek().is_plain(*texts)
        if found:
            self._take()
        return found

    def _expect(self, *texts: str) -> None:
        self._certain &= self._accept(*texts)

    def _past_newlines(self) -> None:
        while self._accept("\n"):
            pass

    def _substitution(self) -> None:
        depth = self._depth
        try:
            self._list(")", may_be_empty=True)
        finally:
            self._depth = depth
        if not self._accept(")"):
            raise Unclosed

    def _list(self, *until: str, may_be_empty: bool = False) -> List:
        parts: list[tuple[Node, bool]] = []
        while self._peek().kind != "end" and not self._peek().is_plain(*until):
            if self._accept("\n"):
                continue
            node = self._and_or()
            if node is None:
                self._certain = False
                self._take()
                continue
            behind = self._accept("&")
            parts.append((node, behind))
            if not behind and not self._accept(";", "\n"):
                self._certain &= self._peek().kind == "end" or self._peek().is_plain(*until)
        self._certain &= bool(parts) or may_be_empty
        return List(tuple(parts))

    def _and_or(self) -> Node | None:
        first = self._pipeline()
        if first is None:
            return None
        parts = [("", first)]
        while self._peek().is_plain("&&", "||"):
            joint = self._take().text
            self._past_newlines()
            following = self._pipeline()
            if following is None:
                self._certain = False
                break
            parts.append((joint, following))
        return first if len(parts) == 1 else AndOr(tuple(parts))

    def _pipeline(self) -> Node | None:
        negated = prefixed = False
        while self._peek().is_plain("!", "time"):
            prefixed = True
            if self._take().text == "!":
                negated = not negated
            else:
                self._accept("-p")
        first = self._command()
        if first is None:
            self._certain &= not prefixed
            return None
        stages = [first]
        while self._accept("|", "|&"):
            self._past_newlines()
            stage = self._command()
            if stage is None:
                self._certain = False
                break
            stages.append(stage)
        return first if len(stages) == 1 and not negated else Pipeline(tuple(stages), negated)

    def _command(self) -> Node | None:
        """Return a command; None, and nothing taken, where none begins."""
        token = self._peek()
        if token.is_plain("(", *_COMPOUNDS):
            if self._depth >= MOST_DEPTH:
                return None
            self._depth += 1
            node = self._compound(self._take().text)
            self._depth -= 1
            while self._peek().kind == "redirection":
                self._redirection()
            return node
        if token.kind not in ("word", "redirection") or token.is_plain(*_MISPLACED):
            return None
        self._left -= 1
        if self._left < 0:
            self._certain, self._ahead = False, None
            return None
        return self._simple()

    def _simple(self) -> Node:
        words: list[str] = []
        assignments: list[str] = []
        document = False
        first = self._peek()
        while True:
            token = self._peek()
            if token.kind == "redirection":
                document |= self._redirection()
            elif token.kind != "word":
                return Simple(tuple(words), tuple(assignments), document)
            elif not words and token.assigns:
                assignments.append(self._take().raw)
            else:
                self._certain &= not token.assigns_list or words[0] in _DECLARE
                words.append(self._take().text)
                if token is first and self._tokens.skip(_FUNCTION):
                    return self._function()

    def _redirection(self) -> bool:
        """Pass over a redirection with its target, and return whether it is a here-document."""
        operator = self._take().text
        if self._peek().kind != "word":
            self._certain = False
            return False
        target = self._take().text
        document = operator.endswith(("<<", "<<-")) and not operator.endswith("<<<")
        if document:
            self._tokens.awaits(target, tabs=operator.endswith("-"))
        return document

    def _compound(self, name: str) -> Node:
        match name:
            case "{" | "(":
                if name == "(" and self._tokens.skip(_ANOTHER_BRACKET):
                    if self._tokens.skip_arithmetic():
                        return Compound("((")
                    self._certain = False  # what shells make of `((a); b)` differs
                closing = "}" if name == "{" else ")"
                body = self._list(closing)
                self._expect(closing)
                return Group(body, own_shell=name == "(")
            case "if":
                return self._if()
            case "case":
                return self._case()
            case "function":
                self._certain &= self._take().kind == "word"
                self._tokens.skip(_FUNCTION)
                return self._function()
            case "coproc":
                node = self._command()
                self._certain &= node is not None
                return Compound(name, () if node is None else (node,))
            case "[[":
                return self._test()
        return self._loop(name)

    def _if(self) -> Node:
        parts = [self._list("then")]
        self._expect("then")
        parts.append(self._list("elif", "else", "fi"))
        while self._accept("elif"):
            parts.append(self._list("then"))
            self._expect("then")
            parts.append(self._list("elif", "else", "fi"))
        if self._accept("else"):
            parts.append(self._list("fi"))
        self._expect("fi")
        return Compound("if", tuple(parts))

    def _loop(self, name: str) -> Node:
        parts: list[Node] = []
        if name in ("while", "until"):
            parts.append(self._list("do"))
        elif self._accept("("):
            self._certain &= self._tokens.skip_arithmetic()
            self._accept(";")
            self._past_newlines()
        else:
            self._certain &= self._take().kind == "word"
            self._past_newlines()
            if self._accept("in"):
                while self._peek().kind == "word":
                    self._take()
                self._expect(";", "\n")
            else:
                self._accept(";")
            self._past_newlines()
        closing = "}" if name in ("for", "select") and self._peek().is_plain("{") else "done"
        self._expect("{" if closing == "}" else "do")
        parts.append(self._list(closing))
        self._expect(closing)
        return Compound(name, tuple(parts))

    def _case(self) -> Node:
        parts: list[Node] = []
        self._certain &= self._take().kind == "word"
        self._past_newlines()
        self._expect("in")
        self._past_newlines()
        while not self._accept("esac"):
            if self._peek().kind == "end":
                self._certain = False
                break
            self._accept("(")
            self._certain &= self._take().kind == "word"
            while self._accept("|"):
                self._certain &= self._take().kind == "word"
            self._expect(")")
            parts.append(self._list(";;", ";&", ";;&", "esac", may_be_empty=True))
            if not self._accept(";;", ";&", ";;&"):
                self._expect("esac")
                break
            self._past_newlines()
        return Compound("case", tuple(parts))

    def _function(self) -> Node:
        self._past_newlines()
        body = self._command() if self._peek().is_plain("(", *_COMPOUNDS) else None
        self._certain &= body is not None
        return Compound("function", () if body is None else (body,))

    def _test(self) -> Node:
        while self._peek().kind != "end" and not self._peek().is_plain("]]"):
            self._take()
        self._expect("]]")
        return Compound("[[")


MOST_PARTS = 24

_NEEDS_QUOTES = re.compile(r"[\s'\"\\;&|<>()`$#]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One simple command: its words without quotes, redirections and assignments, and the folder it is run in.

    `folder` is what `cd` before it led to, from where the line began; empty where it stays there.
    `piped` tells that it reads what another command wrote. Spaces within a word are one each.
    """

    words: tuple[str, ...]
    folder: str = ""
    piped: bool = False


def simple_commands(line: str) -> tuple[Command, ...]:
    """Return a command line's simple commands in order, at most MOST_PARTS; `cd` shows in the others' folder.

    Never raises: a quote that is not closed, or what is no shell at all, is read as far as it goes.
    """
    return commands_of(read(line))


def commands_of(line: Line) -> tuple[Command, ...]:
    """Return the simple commands of a command line that was read."""
    return tuple(islice(_commands(line.body, "", False), MOST_PARTS))


def joined_command(said: Sequence[str]) -> str:
    """Join words to a command line that is parsed into the same words."""
    return " ".join(shlex.quote(word) if not word or _NEEDS_QUOTES.search(word) else word for word in said)


def _commands(node: Node, folder: str, piped: bool) -> Generator[Command, None, str]:
    """Yield the commands, which begin in a folder, and return the folder that the shell is in behind them."""
    match node:
        case Simple(words=("cd" | "pushd", *rest)):
            places = [word for word in rest if not word.startswith("-")]
            return normpath(join(folder, places[0])) if places else folder
        case Simple(words=words) if words:
            yield Command(words=tuple(" ".join(word.split()) for word in words), folder=folder, piped=piped)
        case Pipeline(stages=stages):
            for place, stage in enumerate(stages):
                yield from _commands(stage, folder, piped or place > 0)
        case AndOr(parts=parts):
            for _, part in parts:
                folder = yield from _commands(part, folder, piped)
        case List(parts=parts):
            for part, behind in parts:
                after = yield from _commands(part, folder, piped)
                folder = folder if behind else after
        case Group(body=body, own_shell=own_shell):
            after = yield from _commands(body, folder, piped)
            return folder if own_shell else after
        case Compound(parts=parts):
            for part in parts:
                folder = yield from _commands(part, folder, piped)
    return folder
