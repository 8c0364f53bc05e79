"""The Cypher gate: which statements of a person or an agent may reach the graph, and with which parameters.

A read-only transaction of Kuzu 0.11.3 is no gate: COPY TO, EXPORT, ATTACH, LOAD FROM and settings run inside one, and
COMMIT leaves it. So only what is listed here passes, in a size that can be parsed. Time and rows are the engine's to
limit. A statement that fills the memory or that Kuzu does not survive (a lambda in most functions, an untyped NULL) is
let through: it ends the graph's process, which is replaced (see `GraphServer.cypher`). Not so what reads memory that
a statement points at: see `functions` in cypher_words.toml.

A grammar of Cypher's clauses and functions, by what they may do.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import takewhile
from typing import Any

from helix.errors import CypherRefusedError, did_you_mean
from helix.graph import cypher_tokens
from helix.graph.cypher_tokens import CypherToken, TokenKind, ends_operand, is_name, peek
from helix.text.word_lists import word_list

_FUNCTIONS = word_list("graph/cypher_words", "functions")
_KEYWORDS = word_list("graph/cypher_words", "keywords")
_PROCEDURES = word_list("graph/cypher_words", "procedures")
_REFUSED = word_list("graph/cypher_words", "refused")

# Measured on Kuzu 0.11.3: parsing and planning heed no time limit. 100 brackets in one another are read in 0.1 s but
# 300 lists in 9 s and 5,000 brackets crash; 20 CASEs take 4.6 s; 10,000 terms crash; 20 edges are planned in 2.5 s.
LONGEST_TEXT = 20_000
MOST_TOKENS = 2_000
DEEPEST_NESTING = 16
DEEPEST_CASE = 8
MOST_EDGES = 12
LONGEST_WALK, LONGEST_SHORTEST_PATH = 10, 30
LONGEST_RANGE = 10_000

_OPENINGS = ("MATCH", "OPTIONAL", "UNWIND", "WITH", "RETURN", "CALL")
_HINT = (
    "only reading is allowed: MATCH, OPTIONAL MATCH, UNWIND, WITH, WHERE, RETURN, ORDER BY, SKIP, LIMIT, UNION, "
    f"EXPLAIN and CALL of {', '.join(sorted(_PROCEDURES))}; a name spelt like a keyword goes in backticks"
)
_CLOSED_BY = {"(": ")", "[": "]", "{": "}"}
_STEPS = re.compile(r"[0-9]{1,3}")


def check(text: str) -> str:
    """Return the one reading Cypher statement of a text, comments blanked and each word at its place, ready for Kuzu.

    Raises CypherRefusedError, naming the word and its line and column, for anything that is not on the lists above.
    """
    if len(text) > LONGEST_TEXT:
        raise CypherRefusedError(
            f"the query has {len(text):,} characters, more than {LONGEST_TEXT:,}", hint="pass long values as parameters"
        )
    found = cypher_tokens.tokens(text)
    while found and found[-1].is_mark(";"):
        found.pop()
    if not found:
        raise CypherRefusedError("there is no statement to run", hint="try: MATCH (m:Memory) RETURN m.name LIMIT 5")
    if len(found) > MOST_TOKENS:
        raise CypherRefusedError(
            f"the query has {len(found):,} words and marks, more than {MOST_TOKENS:,}",
            hint="pass lists as parameters: WHERE n.id IN $ids",
        )
    _check_opening(found)
    _check_nesting(found)
    for at in range(len(found)):
        _check_word(found, at)
    # No comment is left in the blanked text, and a semicolon in quotes is followed by the quote.
    return cypher_tokens.blanked(text).rstrip("; \n")


def parameters(text: str) -> tuple[str, ...]:
    """Return the names of the `$parameters` a Cypher text uses, each once; those in strings or comments are none."""
    found = cypher_tokens.tokens(text)
    return tuple(dict.fromkeys(token.text[1:] for token in found if token.kind is TokenKind.PARAMETER))


def bind(statement: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of exactly the parameters that a Cypher statement uses.

    Raises CypherRefusedError for one that has no value (Kuzu would run it as null), or a value that Kuzu cannot take: a
    list of several kinds, too large a number, half a character.
    """
    values: dict[str, Any] = {}
    for name in parameters(statement):
        if name not in params:
            raise CypherRefusedError(
                f"parameter ${name} has no value", hint=f"give it one: --param {name}=VALUE, in GraphQL params"
            )
        values[name] = _bindable(name, params[name])
    return values


def _bindable(name: str, value: Any, depth: int = 0) -> Any:
    items = (*value, *value.values()) if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    if not _kind(value) or depth > DEEPEST_NESTING:
        raise CypherRefusedError(
            f"parameter ${name} is, or holds, something that the graph has no type for",
            hint=f"give texts, 64-bit numbers, true, false or null, in lists and maps at most {DEEPEST_NESTING} deep",
        )
    bound = [_bindable(name, item, depth + 1) for item in items]
    if isinstance(value, dict):
        return dict(zip(value, bound[len(value) :], strict=True))
    kinds = set(map(_kind, items)) - {"nothing"}
    if len(kinds) > 1:
        raise CypherRefusedError(
            f"parameter ${name} is a list that mixes {' and '.join(sorted(kinds))}", hint="give a list of one kind"
        )
    return bound if isinstance(value, list | tuple) else value


def _kind(value: Any) -> str:
    """Name the kind of a value that Kuzu can take, or return nothing."""
    match value:
        case None:
            return "nothing"
        case bool():
            return "truth values"
        case int():
            return "numbers" if -(2**63) <= value < 2**63 else ""
        case float():
            return "numbers"
        case str():
            return "" if cypher_tokens.has_half_characters(value) else "texts"
        case dict():
            return "maps" if all(isinstance(key, str) for key in value) else ""
        case list() | tuple():
            return "lists"
    return ""


def _check_opening(found: list[CypherToken]) -> None:
    opening = found[0]
    if opening.keyword == "EXPLAIN":
        opening = peek(found, 2 if peek(found, 1).keyword == "LOGICAL" else 1)
    if opening.keyword not in _OPENINGS:
        raise CypherRefusedError(f"a statement cannot begin with {opening}", hint=_HINT)


def _check_nesting(found: list[CypherToken]) -> None:
    """Hold how deep brackets and CASEs stand in one another, and what stands in the brackets of an edge."""
    open_marks: list[CypherToken] = []
    edges: list[bool] = []
    cases = edge_count = 0
    for at, token in enumerate(found):
        if token.is_mark(*"([{"):
            open_marks.append(token)
            edges.append(token.text == "[" and peek(found, at - 1).is_mark("-"))
        elif token.is_mark(*")]}"):
            if not open_marks or _CLOSED_BY[open_marks.pop().text] != token.text:
                raise CypherRefusedError(f"{token} closes nothing", hint="check the brackets before it")
            edges.pop()
        elif token.is_mark("*") and edges and edges[-1]:
            _check_walk(found, at)
        elif token.is_mark("-"):
            edge_count += _leaves_node(found, at)
        elif token.keyword in {"CASE", "END"} and not is_name(found, at):
            cases = max(cases + (1 if token.keyword == "CASE" else -1), 0)
        if len(open_marks) > DEEPEST_NESTING or cases > DEEPEST_CASE or edge_count > MOST_EDGES:
            raise CypherRefusedError(
                f"the query is too deep or too wide at {token}",
                hint=f"at most {DEEPEST_NESTING} brackets and {DEEPEST_CASE} CASEs in one another, {MOST_EDGES} edges",
            )
    if open_marks:
        raise CypherRefusedError(f"{open_marks[-1]} is never closed", hint="check the brackets after it")


def _leaves_node(found: list[CypherToken], dash: int) -> bool:
    """Whether an edge may begin with this dash: after `)`, or after the `<` that follows one."""
    before = peek(found, dash - 2 if peek(found, dash - 1).is_mark("<") else dash - 1)
    return before.is_mark(")")


def _check_walk(found: list[CypherToken], star: int) -> None:
    """Require an upper bound on an edge that is walked several times: `*1..3`, `*2`, `* SHORTEST 1..5`."""
    at, longest = star + 1, LONGEST_WALK  # Kuzu's own bound, where none is written, is that of a shortest path
    while (word := peek(found, at).keyword) in {"ALL", "SHORTEST", "WSHORTEST", "TRAIL", "ACYCLIC"}:
        if word in {"SHORTEST", "WSHORTEST"}:
            longest = LONGEST_SHORTEST_PATH
        at += 4 if word == "WSHORTEST" else 1  # with the property in brackets that it weighs by
    bounds = list(takewhile(lambda token: token.kind is TokenKind.NUMBER or token.is_mark(".."), found[at:]))
    upper = bounds[-1].text if bounds and bounds[-1].kind is TokenKind.NUMBER else str(LONGEST_SHORTEST_PATH)
    if not _STEPS.fullmatch(upper) or int(upper) > longest or not peek(found, at + len(bounds)).is_mark(*"]{("):
        raise CypherRefusedError(
            f"the walk {found[star]} needs an upper bound of at most {longest} steps",
            hint=f"write *1..3, at most *1..{LONGEST_WALK}, or * SHORTEST 1..{LONGEST_SHORTEST_PATH}",
        )


def _check_word(found: list[CypherToken], at: int) -> None:
    token = found[at]
    if token.is_mark(";"):
        raise CypherRefusedError(f"a second statement begins after {token}", hint="run one statement at a time")
    before, called = peek(found, at - 1), peek(found, at + 1).is_mark("(")
    if token.kind is TokenKind.NAME and called:
        raise CypherRefusedError(f"{token} is called as a function", hint="write a function's name without backticks")
    if token.kind is not TokenKind.WORD:
        return
    word = token.keyword
    if word in _REFUSED and not is_name(found, at):
        raise CypherRefusedError(f"{token} is not allowed", hint=_HINT)
    if before.keyword == "CALL" and not is_name(found, at - 1):
        return  # judged with its CALL
    if called and word not in _KEYWORDS and word.lower() not in _FUNCTIONS:
        raise CypherRefusedError(
            f"{token} is not among the functions that may be called",
            hint=did_you_mean(word.lower(), _FUNCTIONS) or "excluded is what writes, reads files or can hang",
        )
    if word == "RANGE" and called:
        _check_range(found, at)
    if is_name(found, at):
        return
    if word == "CALL":
        _check_call(found, at)
    elif word == "EXPLAIN" and at:
        raise CypherRefusedError(f"{token} is not at the beginning", hint="EXPLAIN is the first word of a statement")
    elif word not in _KEYWORDS and ends_operand(found, at - 1):
        meant = did_you_mean(word, sorted(_KEYWORDS), 1)
        raise CypherRefusedError(f"no clause begins with {token}", hint=meant or _HINT)


def _check_call(found: list[CypherToken], at: int) -> None:
    name = peek(found, at + 1)
    if name.keyword not in _PROCEDURES or not peek(found, at + 2).is_mark("("):
        raise CypherRefusedError(
            f"CALL cannot be followed by {name}",
            hint=f"CALL may name {', '.join(sorted(_PROCEDURES))}",
        )


def _check_range(found: list[CypherToken], at: int) -> None:
    """Require plain numbers and a short list: Kuzu builds a constant list while it plans, beyond its own limits."""
    end = next(index for index in range(at, len(found)) if found[index].is_mark(")"))
    arguments = "".join(token.text for token in found[at + 2 : end])
    if re.fullmatch(r"-?[0-9]{1,18}(,-?[0-9]{1,18}){1,2}", arguments):
        first, last, *step = (int(number) for number in arguments.split(","))
        if abs(last - first) // (abs(step[0]) if step and step[0] else 1) < LONGEST_RANGE:
            return
    raise CypherRefusedError(
        f"{found[at]} needs two or three whole numbers and makes at most {LONGEST_RANGE:,} values",
        hint="write range(1, 10)",
    )
