"""YAML text: set or drop one member of a mapping in a YAML file, and leave every other character as it stands.

PyYAML says what a text holds and where each node stands; nothing is written by it. A value is put in as JSON, which is
YAML, so that no rule of quoting has to be known here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import yaml

_COMMA = re.compile(r"\s*,[ \t]*")


def parse(text: str) -> dict[str, Any]:
    """Return the mapping of a client's YAML settings, {} for nothing. Raises ValueError, with the place."""
    try:
        held = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(" ".join(str(error).split())) from error
    if held is not None and not isinstance(held, dict):
        raise ValueError("it holds no mapping")
    return held or {}


def set_member(text: str, path: Sequence[str], value: Mapping[str, Any]) -> str:
    """Return YAML settings with a mapping at `path`, whose values are plain. Raises ValueError where none can be."""
    text = drop_member(text, path)
    found, depth = _root(text), 0
    while found is not None and depth < len(path) - 1 and (below := _value(found, path[depth])) is not None:
        if not isinstance(below, yaml.MappingNode):
            if below.start_mark.index != below.end_mark.index:
                raise ValueError(f"{path[depth]!r} is no mapping")
            return _behind(text, below.end_mark.index, _block(path[depth + 1 :], value, found.start_mark.column + 2))
        found, depth = below, depth + 1
    if found is None:
        return _behind(text, len(text), _block(path, value, 0))
    if found.flow_style:
        at = found.end_mark.index - 1
        inner: Any = value
        for name in reversed(path[depth + 1 :]):
            inner = {name: inner}
        comma = ", " if found.value and not text[:at].rstrip().endswith(",") else ""
        return f"{text[:at]}{comma}{json.dumps(path[depth])}: {json.dumps(inner, ensure_ascii=False)}{text[at:]}"
    return _behind(text, _end(found), _block(path[depth:], value, found.start_mark.column))


def drop_member(text: str, path: Sequence[str]) -> str:
    """Return YAML settings without what is at `path`; unchanged where nothing is."""
    found = _root(text)
    for name in path[:-1]:
        found = None if found is None else _value(found, name)
        if not isinstance(found, yaml.MappingNode):
            return text
    for key, value in found.value if found is not None else ():
        if key.value == path[-1] and found is not None and found.flow_style:
            before, behind = text[: key.start_mark.index], text[value.end_mark.index :]
            if (comma := _COMMA.match(behind)) is not None:
                return before + behind[comma.end() :]
            return before.rstrip(", \t\r\n") + behind if before.rstrip().endswith(",") else before + behind
        if key.value == path[-1]:
            start = text.rfind("\n", 0, key.start_mark.index) + 1
            return text[:start] + text[_line_end(text, _end(value)) :]
    return text


def _root(text: str) -> yaml.MappingNode | None:
    node = yaml.compose(text, Loader=yaml.SafeLoader)
    return node if isinstance(node, yaml.MappingNode) else None


def _value(found: yaml.Node, name: str) -> yaml.Node | None:
    pairs = found.value if isinstance(found, yaml.MappingNode) else []
    return next((value for key, value in reversed(pairs) if key.value == name), None)


def _end(node: yaml.Node) -> int:
    """Return where the last leaf of a node ends: a block's own end is where the next token stands."""
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        key, value = last if isinstance(last, tuple) else (last, last)
        return max(_end(key), _end(value))
    return int(node.end_mark.index)


def _line_end(text: str, at: int) -> int:
    """Return where the line ends in which a node ends, its line break included."""
    if at and text[at - 1] == "\n":
        return at
    end = text.find("\n", at)
    return len(text) if end < 0 else end + 1


def _behind(text: str, at: int, block: str) -> str:
    """Return the text with a block of lines behind the line that a position stands in."""
    place = _line_end(text, at)
    if place and text[place - 1] != "\n":
        return f"{text[:place]}\n{block.removesuffix(chr(10))}{text[place:]}"
    return text[:place] + block + text[place:]


def _block(path: Sequence[str], value: Mapping[str, Any], indent: int) -> str:
    lines = [f"{' ' * (indent + 2 * depth)}{_key(name)}:" for depth, name in enumerate(path)]
    margin = " " * (indent + 2 * len(path))
    lines += [f"{margin}{_key(name)}: {json.dumps(one, ensure_ascii=False)}" for name, one in value.items()]
    return "\n".join(lines) + "\n"


def _key(name: str) -> str:
    return name if name.replace("_", "").isalpha() else json.dumps(name)
