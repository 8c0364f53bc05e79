"""Named Cypher: loads `queries/*.cypher`, checks each query's parameters, and hands queries out by name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from helix.errors import HelixError, StoreError
from helix.model.edge import Label, Relation

EDGE_ENDS: Mapping[Relation, tuple[tuple[Label, Label], ...]] = {
    **{
        relation: ((Label.MEMORY, Label.MEMORY),)
        for relation in Relation
        if list(Relation).index(relation) <= list(Relation).index(Relation.RELATED)
    },
    Relation.SIMILAR: ((Label.MEMORY, Label.MEMORY), (Label.ENTITY, Label.ENTITY)),
    Relation.GROUNDED_IN: ((Label.MEMORY, Label.EPISODE),),
    Relation.CITES: tuple((Label.REFLECTION, target) for target in (Label.EPISODE, Label.MEMORY, Label.REFLECTION)),
    Relation.MENTIONS: tuple((source, Label.ENTITY) for source in (Label.MEMORY, Label.EPISODE, Label.REFLECTION)),
    Relation.TOUCHES: ((Label.MEMORY, Label.ENTITY), (Label.EPISODE, Label.ENTITY)),
    Relation.IN_SESSION: ((Label.EPISODE, Label.SESSION),),
    Relation.NEXT: ((Label.EPISODE, Label.EPISODE),),
    Relation.HAS_TASK: ((Label.PLAN, Label.TASK),),
    Relation.BLOCKED_BY: ((Label.TASK, Label.TASK),),
    Relation.INJECTED: ((Label.TASK, Label.MEMORY),),
    Relation.LEARNED: ((Label.TASK, Label.MEMORY),),
    Relation.WITHHELD: ((Label.TASK, Label.MEMORY),),
    Relation.FOR_TASK: ((Label.WORKSPACE, Label.TASK),),
    Relation.PROPOSED: ((Label.TASK, Label.CANDIDATE),),
    Relation.BASED_ON: ((Label.PLAN, Label.EXPLORATION),),
}
"""Between which labels the schema declares each relationship."""

_HEADER = re.compile(
    r"^// name: (?P<name>\S+)\n// params:(?P<params>[^\n]*)\n(?P<body>.*?;)[ ]*$", re.MULTILINE | re.DOTALL
)
_PARAMETER = re.compile(r"\$([A-Za-z_]\w*)")


class QueryFileError(HelixError):
    """A query file of Helix's own is malformed: a duplicate name, or parameters that do not match the text."""

    code = "QUERY_FILE"


def load(folder: Path, constants: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return every named Cypher query of the folder by its name, with `{constant}` words filled in.

    A name that holds `{label}` is expanded for each label, one that holds `{type}` for each type of relationship or,
    with `{source}` and `{target}`, for each pair in EDGE_ENDS. Raises QueryFileError.
    """
    written: dict[str, str] = {}
    expanded: dict[str, str] = {}
    for path in sorted(folder.glob("*.cypher")):
        for match in _HEADER.finditer(path.read_text("utf-8")):
            declared = {word for word in re.split(r"[,\s]+", match["params"]) if word}
            used = set(parameters(match["body"]))
            if declared != used:
                raise QueryFileError(
                    f"{path.name}: {match['name']} declares {sorted(declared)} and uses {sorted(used)}"
                )
            target = expanded if "{" in match["name"] else written
            for name, body in _expanded(match["name"], match["body"]):
                if name in target:
                    raise QueryFileError(f"{path.name}: the name {name!r} is used twice")
                target[name] = fill(body, constants or {})
    # A query written out in full goes before one that a pattern gives: some relationships have columns of their own.
    return {**expanded, **written}


def text_of(loaded: Mapping[str, str], name: str) -> str:
    """Return a named Cypher query; raises StoreError for an edge between labels that the schema does not connect."""
    text = loaded.get(name)
    if text is None:
        raise StoreError(f"the schema has nothing for {name!r}", hint="`helix doctor` looks closer")
    return text


def parameters(text: str) -> list[str]:
    """Return the names of a Cypher query's parameters, each once."""
    return list(dict.fromkeys(_PARAMETER.findall(text)))


def edge_query(action: str, relation: Relation, source: Label, target: Label) -> str:
    """Return the name of the Cypher query that puts or drops edges of a type between two labels."""
    return f"{action}_{relation}_{source}_{target}"


def fill(text: str, constants: Mapping[str, str]) -> str:
    """Replace each `{name}` of `constants` in the text of a Cypher query."""
    for name, value in constants.items():
        text = text.replace("{" + name + "}", value)
    return text


def _expanded(name: str, body: str) -> list[tuple[str, str]]:
    if "{label}" in name:
        return [(fill(name, {"label": label.value}), fill(body, {"label": label.value})) for label in Label]
    if "{type}" not in name:
        return [(name, body)]
    if "{source}" not in name:
        return [(fill(name, {"type": kind.value}), fill(body, {"type": kind.value})) for kind in EDGE_ENDS]
    expanded = []
    for relation, ends in EDGE_ENDS.items():
        for source, target in ends:
            words = {"type": relation.value, "source": source.value, "target": target.value}
            expanded.append((fill(name, words), fill(body, words)))
    return expanded
