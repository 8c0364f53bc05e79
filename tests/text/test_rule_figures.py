"""Rule figures: each module with rules says what they add, why that was not measured, or of what they are a grammar."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import helix

PACKAGE = Path(helix.__file__).parent
READERS = {"word_list", "word_lists", "list_of_word", "word_table", "word_data", "word_rows"}
PATTERNS = {"compile", "regex", "cue_pattern"}
SIGNS = ("(?", r"\b", r"\w", r"\d")
MANY = 3
LEAST_MODULES = 50
TOOLS = {"text/word_lists.py", "text/regex.py"}
"""What reads tables and compiles patterns for the others."""
SAID = re.compile(r"\bof (?:the |its |these |all )?\d|\bOf \d|[Nn]ot measured, as \w|[Aa] grammar of \w")


def has_rules(path: Path) -> bool:
    """Return whether a module has a table of words or patterns."""
    tree = ast.parse(path.read_text("utf-8"))
    calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    names = [call.attr if isinstance(call, ast.Attribute) else getattr(call, "id", "") for call in calls]
    texts = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    in_parts = sum(any(sign in text for sign in SIGNS) for text in texts) > MANY
    return not READERS.isdisjoint(names) or sum(name in PATTERNS for name in names) >= MANY or in_parts


def test_each_module_with_rules_says_what_they_add() -> None:
    """They say `a of b` of what data, `not measured, as ...` or `a grammar of ...`."""
    modules = [
        path
        for path in sorted(PACKAGE.rglob("*.py"))
        if "_data" not in path.parts and path.relative_to(PACKAGE).as_posix() not in TOOLS and has_rules(path)
    ]
    assert len(modules) > LEAST_MODULES
    said = {path: ast.get_docstring(ast.parse(path.read_text("utf-8"))) or "" for path in modules}
    assert [path for path, text in said.items() if not SAID.search(" ".join(text.split()))] == []
