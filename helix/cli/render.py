"""Rendering: how memories, answers and reports look to people."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from string import Formatter
from typing import Any

from helix.cli.output import Output, Part, clean, one_line, printed_label, printed_name, printed_text, shorten, shown
from helix.cli.table_layout import cut, places

Record = Mapping[str, Any]
Columns = Mapping[str, str | Callable[[Record], Any]]

_THEN = " → "
_OF_HELIX = "helix:"
"""How the names of attributes begin that Helix keeps for itself; `--json` shows them."""
_NO_TERMINAL = 80
_WORD = re.compile("[A-Z][A-Z_]*")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d.*")
_OURS = frozenset({"id", "name", "saidBy"})
"""Fields whose text Helix made: it stands as it is, what others have written in quotes."""
_CALLED = frozenset({"scope", "agent"})
"""Fields that call something by a name, which a stranger may have written too."""


def sentence(out: Output, words: str, answer: Any) -> None:
    """Print a sentence about an answer: `{name} is open again` takes the name of a record, `{}` the answer itself."""
    parts = list[Part]()
    for said, field, _, _ in Formatter().parse(words):
        parts.append(said)
        if field is not None:
            named = field == "name"  # a node may have none
            value = (answer.get("name") or answer["id"]) if named else value_of(answer, field) if field else answer
            parts.append((value, "bold") if named else shown(value))
    out.line(*parts)


def anything(out: Output, answer: Any) -> None:
    """Print any answer of a command: the fields of a record, a table of records, or a line for each value."""
    if isinstance(answer, Mapping):
        out.fields({_heading(name).lower(): value_of(answer, name) for name in answer})
    elif isinstance(answer, list) and answer and isinstance(answer[0], Mapping):
        names = [name for name, value in answer[0].items() if not isinstance(value, Mapping | list)]
        table(out, answer, {_heading(name): name for name in names})
    else:
        for value in answer if isinstance(answer, list) else [answer]:
            out.line(shown(value))


def table(out: Output, records: Sequence[Record], columns: Columns, *, text: bool = True) -> None:
    """Print records as a table; each heading has the path to its value (`memory.name`), or what makes it."""
    cells = [[value_of(one, at) if isinstance(at, str) else at(one) for at in columns.values()] for one in records]
    out.table(tuple(columns), cells, text=text)


def value_of(record: Record, path: str) -> Any:
    """Return the value at a path (`memory.name`) for printing: enums in small letters, times to the minute."""
    *above, name = path.split(".")
    for step in above:
        record = record[step]
    value = record[name]
    if not isinstance(value, str) or name in _OURS:
        return value
    if name in _CALLED:
        return printed_label(value)
    if _WORD.fullmatch(value):
        return value.lower()
    return moment(value) if _TIME.fullmatch(value) else printed_text(one_line(value), record)


def _heading(name: str) -> str:
    return re.sub("([A-Z])", r" \1", name).upper()


def memory_line(out: Output, memory: Record, *before: Part) -> None:
    """Print a memory on one line, behind what comes before it."""
    kind, scope, status = memory["kind"].lower(), printed_label(memory["scope"]), memory["status"].lower()
    stands = "" if status == "active" else f"  {status}"
    out.line(*before, label(memory), f" {kind}  ", (memory["name"], "bold"), (f"  {scope}{stands}", "dim"))


def vouched_memory(out: Output, memory: Record) -> None:
    """Print a memory that a person has just vouched for, with what it says: its name may be another's beginning."""
    memory_line(out, memory)
    for said in filter(None, (memory["trigger"], memory["resolution"])):
        out.line(printed_text(shorten(said), memory), indent=3)


def memory_table(out: Output, memories: Sequence[Record]) -> None:
    """Print memories as a table."""
    rows = [
        (
            m["name"],
            m["kind"].lower(),
            label(m),
            m["status"].lower(),
            printed_label(m["scope"]),
            printed_text(one_line(m["trigger"]), m),
        )
        for m in memories
    ]
    out.table(("NAME", "KIND", "SAID BY", "STATUS", "SCOPE", "TRIGGER"), rows)


def memory_page(out: Output, memory: Record) -> None:
    """Print a whole memory, with its edges and the episodes it rests on where they were asked for."""
    memory_line(out, memory)
    out.line(printed_text(memory["trigger"], memory), indent=2)
    if memory["resolution"]:
        out.line("→ ", printed_text(memory["resolution"], memory), indent=2)
    out.line()
    attributes = {name: value for name, value in memory["attributes"].items() if not name.startswith(_OF_HELIX)}
    origin = {name: value for name, value in memory["provenance"].items() if value}
    out.fields(
        {
            "id": memory["id"],
            "confidence": memory["confidence"],
            "importance": memory["importance"],
            "feedback": f"helped {memory['helped']:g}, failed {memory['failed']:g}, used {memory['uses']}",
            "recorded": moment(memory["recordedAt"]),
            "retired": moment(memory["retiredAt"]),
            "valid": _span(memory["validFrom"], memory["validTo"]),
            "last used": moment(memory["lastUsedAt"]),
            "source": printed_text(memory["source"], memory),
            "origin": printed_text(shown(origin), memory),
            "attributes": printed_text(shown(attributes), memory),
        }
    )
    for title, words in (("edges", edge_words), ("episodes", _episode_words)):
        if pieces := (memory.get(title) or {}).get("edges"):
            out.line()
            out.line((title, "bold"))
            for piece in pieces:
                out.line(words(piece["node"]), indent=2)


def edge_words(edge: Record) -> str:
    """Return an edge as it is printed, `a -SOLVES-> b`, with its weight where it is not 1."""
    weight = "" if edge["weight"] == 1 else f" ({edge['weight']:.3g})"
    return f"{_end(edge['source'])} -{edge['relation'] or edge['type']}{weight}-> {_end(edge['target'])}"


def edge_table(out: Output, edges: Sequence[Record]) -> None:
    """Print edges as a table."""
    rows = [(_end(e["source"]), e["relation"] or e["type"], _end(e["target"]), e["weight"]) for e in edges]
    out.table(("FROM", "RELATION", "TO", "WEIGHT"), rows, text=False)


def answer(out: Output, recalled: Record, *, explain: bool = False, full: bool = False) -> None:
    """Print the items of a recall answer in their order, each with its score and the reason it is there."""
    for rank, item in enumerate(recalled["items"], 1):
        recall_item(out, item, rank, explain=explain, full=full)


def few(out: Output, recalled: Record, most: int, here: str | None) -> int:
    """Print on a terminal the items of an answer that suffice by themselves, and return how many those are."""
    shown = [item for item in recalled["items"] if item["standsOut"]][:most]
    for rank, item in enumerate(shown, 1):
        _brief(out, item, f"{rank}. ", here)
    return len(shown)


def _brief(out: Output, item: Record, number: str, here: str | None) -> None:
    """Write what an item says in one line, and in another what it is called and where it comes from."""
    node, room = item["node"], (out.width or _NO_TERMINAL) - len(number)
    said, then = _render_texts(item)
    most = max(room // 2, room - places(then) - len(_THEN)) if then else room
    said = cut(said, most)
    then = cut(f"{_THEN}{then}", room - places(said)) if then else ""
    out.line((number, "bold"), (said, "bold"), then)
    scope = "" if here in (None, node["scope"]) else printed_label(node["scope"])
    origin = (label({**node, "confidenceLabel": item["confidenceLabel"]}), kind_of(node), told_on(node), scope)
    standing = (f"  {item['standing']}" if item["standing"] else "", "yellow")
    out.line((node.get("name") or node["id"]), (f"  {' '.join(filter(None, origin))}", "dim"), standing, indent=3)


def _render_texts(item: Record) -> tuple[str, str]:
    """Return what an item says, and what to know or do then, each on one line."""
    node = item["node"]
    if "trigger" in node:
        return printed_text(_line(node["trigger"]), node), printed_text(_line(node["resolution"]), node)
    first = next((line for line in item["text"].splitlines() if line.strip()), "")
    return printed_text(_line(first), node), ""


def _line(text: str) -> str:
    return " ".join(clean(text).split())


def kind_of(node: Record) -> str:
    """Return what a printed node is: the kind of a memory, else its label."""
    return str(node.get("kind") or node["__typename"]).lower()


def recall_item(out: Output, item: Record, rank: int = 0, *, explain: bool = False, full: bool = False) -> None:
    """Print one item of a recall answer; `explain` adds every arm and factor, `full` its whole text."""
    node = item["node"]
    head = [(f"{rank}. ", "bold")] if rank else []
    out.line(
        *head,
        (label({**node, "confidenceLabel": item["confidenceLabel"]}), _colour(item["confidenceLabel"])),
        f" {kind_of(node)}  ",
        (node.get("name") or node["id"], "bold"),
        (f"  {told_on(node)}", "dim"),
        (f"  score {item['score']:.2f}", "cyan"),
        (f" because {printed_text(item['reason'])}" if item["reason"] else "", "dim"),
    )
    text = item["text"] if full else shorten(item["text"])
    out.line("\n| ".join(printed_text(text, node).splitlines()), indent=3)  # else a text could look like the next item
    if explain:
        arms = [f"{a['arm']} #{a['rank']} ({a['score']:.3g}, gave {a['contribution']:.3g})" for a in item["arms"]]
        out.line(("found by: ", "dim"), ", ".join(arms) or "-", indent=3)
        out.line(("score is: ", "dim"), _formula(by_name(item["factors"])), indent=3)


def told_on(node: Record) -> str:
    """Return the day printed with a node: on which it happened or began to hold, else that of its recording."""
    told = node.get("occurredAt") or node.get("validFrom") or node["recordedAt"]
    return str(told)[:10]


def moment(text: str | None) -> str:
    """Return a time as it is printed, to the minute: `2025-01-31 09:30 UTC`; "" for none."""
    return f"{text[:10]} {text[11:16]} UTC" if text else ""


def gate_line(gate: Record) -> str | None:
    """Return the printed line on what a consolidation's gate made of the episodes; None before any was read."""
    if not gate["read"]:
        return None
    return f"dropped {gate['dropped']:,} of {gate['read']:,} episodes read, {gate['dropRate']:.0%}"


def erased(out: Output, report: Record) -> None:
    """Print the result of an erasure, and above all where the text may still be."""
    out.line(f"{len(report['erased'])} erased, {report['rows']} rows of the journal emptied")
    for copy in report["copies"]:
        out.line(f"{copy['path']}: ", "erased" if copy["erased"] else (f"STILL HOLDS IT: {copy['why']}", "bold red"))
    for warning in report["warnings"]:
        out.line(("warning: ", "bold yellow"), warning)


def health(out: Output, found: Record) -> None:
    """Print how something is, what is wrong with it, and its figures."""
    out.line((found["status"], "bold"))
    for issue in found["issues"]:
        out.line(f"- {issue}")
    stats = found["stats"]
    out.fields(by_name(stats) if isinstance(stats, list) else stats)


def by_name(entries: Sequence[Record]) -> dict[str, Any]:
    """Return a table to print by its names, which GraphQL lists entry by entry."""
    return {one["name"]: one["value"] for one in entries}


def ingest_summary(report: Record) -> str:
    """Return in one printed sentence what an ingest did."""
    words = (
        f"{report['episodes']} episodes, {report['memories']} memories ingested, {report['edges']} links between them"
    )
    if report["skipped"]:
        words += f"; {report['skipped']} were there already, are excluded or were erased"
    if report.get("vouched"):
        words += f"; {report['vouched']} memories count as your own now"
    if report["redacted"]:
        words += f"; {report['redacted']} secrets taken out"
    if report.get("quarantined"):
        words += f"; {report['quarantined']} parts quarantined: `helix review list` shows why"
    return words


def _formula(factors: Mapping[str, float]) -> str:
    """Return how a score was made: the sum of the terms (`+name`), times each of the factors (`*name`)."""
    terms = [f"{name[1:]} {value:.3g}" for name, value in factors.items() if name.startswith("+")]
    times = [f"{name.lstrip('*')} {value:.3g}" for name, value in factors.items() if not name.startswith("+")]
    total = f"({' + '.join(terms)})" if len(terms) > 1 and times else " + ".join(terms)
    return " \N{MULTIPLICATION SIGN} ".join(filter(None, (total, *times))) or "-"


def label(memory: Record) -> str:
    """Return the printed label of a memory, of proof and source: `[75% of 4, you]`."""
    parts = [part for part in (str(memory["confidenceLabel"]).strip("[]"), memory.get("saidBy") or "") if part]
    return f"[{', '.join(parts)}]" if parts else ""


def _colour(label: str) -> str:
    if not label:
        return "yellow"
    return "green" if int(label.strip("[").partition("%")[0]) >= 50 else "red"


def _span(start: str | None, end: str | None) -> str:
    if not start and not end:
        return ""
    return f"from {moment(start) or 'ever'} to {moment(end) or 'now'}"


def _end(end: Record) -> str:
    node = end["node"] or {}
    if not node.get("name"):
        return f"{end['label'].lower()} {printed_label(end['id'])}"  # a session's id has its name in it
    return printed_name(end["label"], node["name"])


def _episode_words(episode: Record) -> str:
    text = printed_text(one_line(episode["content"], 100), episode)
    return f"{moment(episode['occurredAt'])}  {episode['saidBy']}: {text}"
