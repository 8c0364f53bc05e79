"""YAML text: set or drop one member of a mapping in a YAML file, and leave every other character as it stands.

PyYAML says what a text holds and where each node stands; nothing is written by it. A value is put in as JSON, which is
YAML, so that no rule of quoting has to be known here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import yaml

_COMMA = re.compile(r"\s*,[ \t]*")


def parse(text: str) -> dict[str, Any]:
    """Return the mapping of a client's YAML settings, {} for nothing. Raises ValueError, with the place."""
    try:
        held = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(" ".join(str(error).split())) from error
    if _holds_itself(text):
        raise ValueError("it holds itself: an alias stands inside of what it is an alias of")
    if held is not None and not isinstance(held, dict):
        raise ValueError("it holds no mapping")
    return held or {}


def _holds_itself(text: str) -> bool:
    around: list[str | None] = []
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        if isinstance(event, yaml.CollectionStartEvent):
            around.append(event.anchor)
        elif isinstance(event, yaml.CollectionEndEvent):
            around.pop()
        elif isinstance(event, yaml.AliasEvent) and event.anchor in around:
            return True
    return False


def set_member(text: str, path: Sequence[str], value: Mapping[str, Any]) -> str:
    """Return YAML settings with a mapping at `path`, whose values are plain. Raises ValueError where none can be."""
    text = drop_member(text, path)
    found, depth = _root(text), 0
    while found is not None and depth < len(path) - 1 and (below := _value(found, path[depth])) is not None:
        if not isinstance(below, yaml.MappingNode):
            if below.start_mark.index != below.end_mark.index:
                raise ValueError(f"{path[depth]!r} is not a mapping")
            return _behind(text, below.end_mark.index, _block(path[depth + 1 :], value, _column(found) + 2))
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
    return _behind(text, _end(text, found.end_mark.index), _block(path[depth:], value, _column(found)))


def drop_member(text: str, path: Sequence[str]) -> str:
    """Return YAML settings without what is at `path`; unchanged where nothing is."""
    found = _root(text)
    for name in path[:-1]:
        found = None if found is None else _value(found, name)
        if not isinstance(found, yaml.MappingNode):
            return text
    for key, value in found.value if found is not None else ():
        if key.value == path[-1] and found is not None and found.flow_style:
            before, behind = text[: key.start_mark.index], text[_end_of_member(text, key, value) :]
            if (comma := _COMMA.match(behind)) is not None:
                return before + behind[comma.end() :]
            return before.rstrip(", \t\r\n") + behind if before.rstrip().endswith(",") else before + behind
        if key.value == path[-1]:
            start = text.rfind("\n", 0, key.start_mark.index) + 1
            return text[:start] + text[_line_end(text, _end_of_member(text, key, value)) :]
    return text


def _root(text: str) -> yaml.MappingNode | None:
    node = yaml.compose(text, Loader=yaml.SafeLoader)
    return node if isinstance(node, yaml.MappingNode) else None


def _value(found: yaml.Node, name: str) -> yaml.Node | None:
    pairs = found.value if isinstance(found, yaml.MappingNode) else []
    key, value = next(((key, value) for key, value in reversed(pairs) if key.value == name), (None, None))
    if value is not None and _is_alias(key, value):
        raise ValueError(f"{name!r} is an alias of what stands elsewhere")
    return value


def _column(found: yaml.MappingNode) -> int:
    """Return the column of a block mapping's keys; its own is where its anchor or tag stands."""
    return int(found.value[0][0].start_mark.column)


def _is_alias(key: yaml.Node, value: yaml.Node) -> bool:
    return bool(value.start_mark.index < key.start_mark.index)


def _end(text: str, bound: int) -> int:
    """Return where the last leaf ends that ends by `bound`: a block's own end is where the next token stands.

    It goes by the events of the text, since a node that an alias stands for lies where its anchor does.
    """
    return max(at for at in _leaf_ends(text) if at <= bound)


def _end_of_member(text: str, key: yaml.Node, value: yaml.Node) -> int:
    """Return where the last leaf of a mapping's member ends."""
    if _is_alias(key, value):
        return min(at for at in _leaf_ends(text) if at > key.end_mark.index)
    return _end(text, int(value.end_mark.index))


def _leaf_ends(text: str) -> Iterator[int]:
    """Yield where scalars, aliases and the brackets of flow collections end: what takes no room is a block's."""
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        if event.start_mark.index < event.end_mark.index:
            yield int(event.end_mark.index)


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
