"""What Kuzu 0.11.3 does not survive: statements that only read and still end its process, found by running them.

Random statements of everything the gate allows were run against a real graph until none crashed; each rule here stands
for a family of segmentation faults. They work on words, so they refuse a little more than crashes.

A crash ends the graph's process alone, but each start applies again what Kuzu's log held. In a graph of 10,000 memories
with 380 not folded in, who asks beside one that crashes it over and over waited 10 to 13 s for each answer; with 1,500
rows not folded in, one crash had the graph built anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, auto

from helix.errors import CypherRefusedError
from helix.graph.cypher_tokens import CypherToken, TokenKind, ends_operand, is_name, peek
from helix.model.cypher_words import KEYWORDS

_IN_PATTERNS = frozenset({"MATCH", "ALL", "SHORTEST", "WSHORTEST", "TRAIL", "ACYCLIC"})


class _ComparisonSide(Enum):
    """What stands on one side of a comparison: a variable that was matched, one that was worked out, a literal, ..."""

    MATCHED = auto()
    COMPUTED = auto()
    LITERAL = auto()
    EXPRESSION = auto()


def check(found: Sequence[CypherToken]) -> None:
    """Raise CypherRefusedError at the first word of a Cypher statement, its brackets matched, that could crash Kuzu."""
    computed = _computed_names(found)
    open_marks: list[bool] = []
    keyword = ""
    for at, token in enumerate(found):
        if token.is_mark(*"([{"):
            open_marks.append(token.text == "[" and not peek(found, at - 1).is_mark("-"))
        elif token.is_mark(*")]}"):
            open_marks.pop()
        elif token.is_mark(":", "..") and open_marks and open_marks[-1]:
            raise CypherRefusedError(f"{token} cuts a slice, which is not allowed", hint="take it by index: list[1]")
        elif token.is_mark("-"):
            _check_arrow(found, at)
        elif token.is_mark("=", "<>", "<", "<=", ">", ">="):
            if keyword not in _IN_PATTERNS:  # there, `=` names a path
                _check_comparison(found, at, computed)
        elif token.keyword == "NULL":
            _check_null(found, at)
        elif token.keyword in {"LABEL", "LABELS"} and peek(found, at + 1).is_mark("("):
            _check_label(found, at, computed)
        if token.keyword in KEYWORDS and not is_name(found, at):
            keyword = token.keyword


def _computed_names(found: Sequence[CypherToken]) -> frozenset[str]:
    """Collect the names that may stand for a node that was worked out: all that AS names, but for `n AS m`.

    Matched nodes may be compared and asked for their label; the same nodes out of a list, a map or a CASE may not.
    """
    computed: set[str] = set()
    for at, token in enumerate(found):
        name = _spelling(peek(found, at + 1))
        if token.keyword == "AS" and not is_name(found, at):
            source = peek(found, at - 1)
            renamed = source.kind in {TokenKind.WORD, TokenKind.NAME} and (
                peek(found, at - 2).is_mark(",") or peek(found, at - 2).keyword in {"WITH", "RETURN", "DISTINCT"}
            )
            if not renamed or _spelling(source) in computed:
                computed.add(name)
        elif token.keyword in {"ANY", "ALL", "NONE", "SINGLE"} and peek(found, at + 1).is_mark("("):
            computed.add(_spelling(peek(found, at + 2)))
    return frozenset(computed)


def _spelling(token: CypherToken) -> str:
    """Return a name as Kuzu compares it: without its backticks and in one case."""
    return token.text.strip("`").casefold()


def _check_arrow(found: Sequence[CypherToken], dash: int) -> None:
    """Refuse `x -> x + 1`: most functions crash on a lambda. An edge has two dashes or brackets."""
    if peek(found, dash + 1).is_mark(">") and ends_operand(found, dash - 1) and not peek(found, dash - 1).is_mark("]"):
        raise CypherRefusedError(
            f"the arrow {found[dash]} makes a lambda", hint="lambdas are not allowed; an edge is written --> or -[]->"
        )


def _check_null(found: Sequence[CypherToken], at: int) -> None:
    """Refuse a NULL that no operator gives a type: list_sum(NULL), 1 IN NULL, WITH NULL AS x."""
    if peek(found, at - 1).keyword not in {"IS", "NOT", "THEN", "ELSE"}:
        raise CypherRefusedError(
            f"{found[at]} has no type here, which crashes the graph", hint="NULL goes after IS, IS NOT, THEN and ELSE"
        )


def _check_label(found: Sequence[CypherToken], at: int, computed: frozenset[str]) -> None:
    """Refuse label() of anything but a variable that was matched, or unwound from a list in the same words."""
    variable = peek(found, at + 2)
    worked_out = _spelling(variable) in computed and not _is_unwound(found, _spelling(variable))
    if not _is_variable(found, at + 2) or not peek(found, at + 3).is_mark(")") or worked_out:
        raise CypherRefusedError(
            f"{found[at]} is asked about {variable}, which was not matched", hint="write label(n) for a matched n"
        )


def _is_unwound(found: Sequence[CypherToken], name: str) -> bool:
    """Whether every AS that makes this name belongs to an UNWIND of a list of matched nodes: nodes(p), rels(p)."""
    makers = [at for at, token in enumerate(found) if token.keyword == "AS" and _spelling(peek(found, at + 1)) == name]
    return all(
        peek(found, at - 5).keyword == "UNWIND"
        and peek(found, at - 4).keyword in {"NODES", "RELS", "RELATIONSHIPS"}
        and peek(found, at - 1).is_mark(")")
        for at in makers
    )


def _check_comparison(found: Sequence[CypherToken], at: int, computed: frozenset[str]) -> None:
    """Refuse to compare a matched node with one that was worked out, or two that were."""
    left, right = (_side(found, place, computed) for place in (at - 1, at + 1))
    if (
        (left is _ComparisonSide.MATCHED and right in {_ComparisonSide.COMPUTED, _ComparisonSide.EXPRESSION})
        or (right is _ComparisonSide.MATCHED and left in {_ComparisonSide.COMPUTED, _ComparisonSide.EXPRESSION})
        or (left is right is _ComparisonSide.COMPUTED and found[at].is_mark("=", "<>"))
    ):
        raise CypherRefusedError(
            f"{peek(found, at - 1)} cannot be compared with {peek(found, at + 1).text!r}",
            hint="compare id(a) = id(b), or properties of the two",
        )


def _side(found: Sequence[CypherToken], at: int, computed: frozenset[str]) -> _ComparisonSide:
    token = peek(found, at)
    if token.kind in {TokenKind.STRING, TokenKind.NUMBER, TokenKind.PARAMETER} or token.keyword in {"TRUE", "FALSE"}:
        return _ComparisonSide.LITERAL
    if not _is_variable(found, at):
        return _ComparisonSide.EXPRESSION
    return _ComparisonSide.COMPUTED if _spelling(token) in computed else _ComparisonSide.MATCHED


def _is_variable(found: Sequence[CypherToken], at: int) -> bool:
    """Whether a variable stands here by itself: no keyword, property, label, function or element."""
    token = peek(found, at)
    return (
        (token.kind is TokenKind.NAME or (token.kind is TokenKind.WORD and token.keyword not in KEYWORDS))
        and not is_name(found, at)
        and not peek(found, at + 1).is_mark(".", "(", "[")
    )
