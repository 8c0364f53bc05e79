"""Sections: takes a Markdown or reStructuredText document apart into sections of blocks. Pure functions, no kinds."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from helix.ingest.plain import shorten

_MOST_FRONT_MATTER = 200
_LONGEST_TITLE = 300
_FENCE = re.compile(r"\s*(?:[-*+]\s+)?(?P<mark>`{3,}|~{3,})(?P<info>[^`]*)$")
_ATX = re.compile(r" {0,3}(?P<marks>#{1,6})(?P<title>[ \t].*)")
_SETEXT = re.compile(r" {0,3}(?P<mark>=|-)(?P=mark)+[ \t]*$")
_ITEM = re.compile(r"(?P<indent>[ \t]*)(?:[-*+•]|(?P<number>\d{1,3})[.)])[ \t]+(?:\[[ xX]\][ \t]+)?(?P<text>\S.*)")
_NOT_A_TITLE = re.compile(r"\s*(?:$|[-*+>|]|```|~~~|\d+[.)] )| {4}|\t")


class BlockKind(Enum):
    """What a block of a section is."""

    PARAGRAPH = auto()
    ITEM = auto()
    CODE = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A paragraph, a list item with all that is indented under it, or a piece of code without its fence.

    `lead` is the paragraph that stands right before an item's list or before the code; `language` is of the code.
    """

    kind: BlockKind
    text: str
    lead: str = ""
    language: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """What stands under one heading, up to the next. `path` holds the headings above it and its own."""

    path: tuple[str, ...]
    text: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A document: its front matter (a text or texts by key, in lower case) and the sections that say something."""

    front_matter: Mapping[str, str | tuple[str, ...]]
    sections: tuple[Section, ...]


def parse_markdown(text: str) -> Document:
    """Return any text read as Markdown."""
    front_matter, lines = _front_matter(text.splitlines())
    sections = (_section(path, body) for path, body in _by_heading(list(_without_comments(lines))))
    return Document(front_matter=front_matter, sections=tuple(section for section in sections if section.blocks))


def parse_rst(text: str) -> Document:
    """Return any text read as reStructuredText, of which headings and literal blocks are understood."""
    return parse_markdown("\n".join(_as_markdown(text.splitlines())))


def _fenced(lines: Sequence[str]) -> list[int]:
    """Return for each line the number, from 1, of the fenced code it belongs to, its fences included; 0 for text."""
    numbers: list[int] = []
    opened, mark = 0, ""
    for line in lines:
        match = _FENCE.match(line)
        if mark:
            numbers.append(opened)
            if match and match["mark"].startswith(mark) and not match["info"].strip():
                mark = ""
        elif match:
            opened, mark = opened + 1, match["mark"]
            numbers.append(opened)
        else:
            numbers.append(0)
    return numbers


def _front_matter(lines: list[str]) -> tuple[dict[str, str | tuple[str, ...]], list[str]]:
    if not lines or lines[0].strip() != "---":
        return {}, lines
    end = next((n for n, line in enumerate(lines[1:_MOST_FRONT_MATTER], 1) if line.strip() in ("---", "...")), None)
    if end is None:
        return {}, lines
    found: dict[str, str | tuple[str, ...]] = {}
    key = ""
    for line in lines[1:end]:
        if (item := re.fullmatch(r"\s*-\s+(.+)", line)) and key:
            before = found[key]
            found[key] = (*(before if isinstance(before, tuple) else ()), _unquoted(item[1]))
        elif pair := re.fullmatch(r"([\w-]+)\s*:\s*(.*)", line):
            key, value = pair[1].lower(), pair[2].strip()
            inside = value[1:-1] if value.startswith("[") and value.endswith("]") else None
            found[key] = _unquoted(value) if inside is None else tuple(_unquoted(part) for part in inside.split(","))
    return found, lines[end + 1 :]


def _unquoted(text: str) -> str:
    text = text.strip()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text


def _without_comments(lines: Sequence[str]) -> Iterator[str]:
    """Yield the lines without HTML comments that begin a line; inside code they are code."""
    inside = False
    for line, code in zip(lines, _fenced(lines), strict=True):
        if not inside and (code or not line.lstrip().startswith("<!--")):
            yield line
            continue
        _, closed, rest = line.partition("-->")
        inside = not closed
        if rest.strip():
            yield rest


def _by_heading(lines: Sequence[str]) -> Iterator[tuple[tuple[str, ...], list[str]]]:
    """Yield each heading's path with the lines under it; what stands before the first heading has an empty path."""
    above: list[tuple[int, str]] = []
    body: list[str] = []
    for line, code in zip(lines, _fenced(lines), strict=True):
        heading = None if code else _heading(line, body)
        if heading is None:
            body.append(line)
            continue
        yield tuple(title for _, title in above), body
        level, title = heading
        above = [*(entry for entry in above if entry[0] < level), (level, title)]
        body = []
    yield tuple(title for _, title in above), body


def _heading(line: str, body: list[str]) -> tuple[int, str] | None:
    """Return the level and title of a heading that the line is, or ends by underlining the last line of `body`."""
    if match := _ATX.match(line):
        title = match["title"].strip()
        open_title = title.rstrip("#")  # closing marks go, but not those of "C#"
        title = open_title.rstrip() if open_title[-1:] in ("", " ", "\t") else title
        return (len(match["marks"]), shorten(title, _LONGEST_TITLE)) if title else None
    alone = body and not _NOT_A_TITLE.match(body[-1]) and (len(body) == 1 or not body[-2].strip())
    if alone and (match := _SETEXT.match(line)):
        return (1 if match["mark"] == "=" else 2), shorten(body.pop().strip(), _LONGEST_TITLE)
    return None


def _section(path: tuple[str, ...], lines: list[str]) -> Section:
    return Section(path=path, text="\n".join(lines).strip("\n").rstrip(), blocks=tuple(_blocks(lines)))


def _blocks(lines: Sequence[str]) -> Iterator[Block]:
    """Yield the blocks of a section's lines, in order."""
    fenced = _fenced(lines)
    lead, at = "", 0
    while at < len(lines):
        first, end = lines[at], at + 1
        item = None if fenced[at] else _ITEM.match(first)
        if fenced[at]:
            end = _end_of_code(fenced, at)
            yield from _code(lines[at:end], lead)
            lead = ""
        elif item:
            end = _end_of_item(lines, fenced, at, len(item["indent"]))
            yield Block(kind=BlockKind.ITEM, text=_joined([item["text"], *lines[at + 1 : end]]), lead=lead)
        elif first.strip():
            end = _end_of_paragraph(lines, fenced, at)
            lead = _joined([line.lstrip().removeprefix(">") for line in lines[at:end]])
            if lead:
                yield Block(kind=BlockKind.PARAGRAPH, text=lead)
        at = end


def _code(lines: Sequence[str], lead: str) -> Iterator[Block]:
    fence = _FENCE.match(lines[0])
    closed = len(lines) > 1 and _FENCE.match(lines[-1]) is not None
    text = textwrap.dedent("\n".join(lines[1:-1] if closed else lines[1:])).strip("\n")
    if text.strip():
        yield Block(kind=BlockKind.CODE, text=text, lead=lead, language=fence["info"].strip() if fence else "")


def _end_of_code(fenced: Sequence[int], start: int) -> int:
    return next((n for n in range(start, len(fenced)) if fenced[n] != fenced[start]), len(fenced))


def _end_of_paragraph(lines: Sequence[str], fenced: Sequence[int], start: int) -> int:
    """Return the line after the paragraph; a number in running text begins no list unless it is 1."""
    for at in range(start + 1, len(lines)):
        item = _ITEM.match(lines[at])
        if fenced[at] or not lines[at].strip() or (item and item["number"] in (None, "1")):
            return at
    return len(lines)


def _end_of_item(lines: Sequence[str], fenced: Sequence[int], start: int, indent: int) -> int:
    """Return the line after the item: it goes on over what is indented deeper, and over lines that follow at once."""
    end = start + 1
    for at in range(start + 1, len(lines)):
        line = lines[at]
        if not line.strip() and not fenced[at]:
            continue  # it belongs to the item where something indented follows
        deeper = len(line) - len(line.lstrip()) > indent or (fenced[at] and fenced[at] == fenced[at - 1])
        follows = end == at and not fenced[at] and not _ITEM.match(line)
        if not (deeper or follows):
            break
        end = at + 1
    return end


def _joined(lines: Sequence[str]) -> str:
    """Return wrapped lines as one; where a list or code stands inside, the lines stay as they are."""
    if any(_ITEM.match(line) or _FENCE.match(line) for line in lines[1:]):
        return "\n".join((lines[0].strip(), textwrap.dedent("\n".join(lines[1:])).strip("\n"))).rstrip()
    return " ".join(stripped for line in lines if (stripped := line.strip()))


_RST_RULE = re.compile(r"([=\-`:'\"~^_*+#<>.])\1{2,}[ \t]*$")
_RST_CODE = re.compile(r"\.\. (?:code|code-block|sourcecode|parsed-literal)::[ \t]*(?P<language>[\w+-]*)[ \t]*$")


def _as_markdown(lines: Sequence[str]) -> Iterator[str]:
    """Yield reStructuredText with its headings and literal blocks written the Markdown way."""
    levels: dict[tuple[str, bool], int] = {}
    at = 0
    while at < len(lines):
        line = lines[at]
        above, below = _is_rule(lines, at - 1), _is_rule(lines, at + 1)
        over = above and below and lines[at - 1].strip() == lines[at + 1].strip()
        if line.strip() and not _is_rule(lines, at) and below and len(lines[at + 1].strip()) >= len(line.strip()):
            level = levels.setdefault((lines[at + 1][0], bool(over)), len(levels) + 1)
            yield f"{'#' * min(level, 6)} {line.strip()}"
            at += 2
            continue
        directive = _RST_CODE.match(line)
        if directive or line.rstrip().endswith("::"):
            end = _end_of_indented(lines, at + 1)
            if not directive:
                yield line.rstrip().removesuffix(":") if line.strip() != "::" else ""
            yield from ("", f"```{directive['language'] if directive else ''}")
            yield from textwrap.dedent("\n".join(lines[at + 1 : end])).strip("\n").split("\n")
            yield from ("```", "")
            at = end
            continue
        if not _is_rule(lines, at):
            yield line
        at += 1


def _is_rule(lines: Sequence[str], at: int) -> bool:
    return 0 <= at < len(lines) and _RST_RULE.match(lines[at]) is not None


def _end_of_indented(lines: Sequence[str], start: int) -> int:
    end = start
    for at in range(start, len(lines)):
        if lines[at].strip():
            if lines[at][0] not in " \t":
                break
            end = at + 1
    return end
