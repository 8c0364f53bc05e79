"""Sections: takes a Markdown or reStructuredText document apart into sections of blocks. Pure functions, no kinds.

markdown-it (CommonMark) says which lines a block has; the text is those lines as they stand. reStructuredText is
written the Markdown way first.

A grammar of Markdown and reStructuredText.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from functools import cache
from itertools import takewhile
from typing import TYPE_CHECKING

from helix.ingest.plain import shorten

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_MOST_FRONT_MATTER = 200
_LONGEST_TITLE = 300
_MARKER = re.compile(r"^[ \t]*(?:[-*+•]|\d{1,9}[.)])(?:[ \t]+(?:\[[ xX]\][ \t]+)?|$)")
_BULLET = re.compile(r"^([ \t]*)•(?=[ \t])", re.MULTILINE)  # what plain text has for a list
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_LAID_OUT = frozenset({"list_item_open", "fence", "code_block"})
"""What keeps its lines inside an item."""
_NOT_MARKDOWN = ("inline", "reference")
_NOT_RST = (*_NOT_MARKDOWN, "code", "html_block")


class BlockKind(Enum):
    """What a block of a section is."""

    PARAGRAPH = auto()
    ITEM = auto()
    CODE = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionBlock:
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
    blocks: tuple[SectionBlock, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A document: its front matter (a text or texts by key, in lower case) and the sections that say something."""

    front_matter: Mapping[str, str | tuple[str, ...]]
    sections: tuple[Section, ...]


def parse_markdown(text: str) -> Document:
    """Parse any text as Markdown into the sections of a note."""
    return _document(text.splitlines(), _reader(_NOT_MARKDOWN))


def parse_rst(text: str) -> Document:
    """Parse any text as reStructuredText into the sections of a note; headings and literal blocks are understood."""
    return _document(list(_as_markdown(text.splitlines())), _reader(_NOT_RST))


@cache
def _reader(rules_off: tuple[str, ...]) -> MarkdownIt:
    from markdown_it import MarkdownIt  # only where notes are read: the daemon starts without it

    return MarkdownIt("commonmark").disable(list(rules_off))


def _document(lines: list[str], reader: MarkdownIt) -> Document:
    front_matter, lines = _front_matter(lines)
    tokens = reader.parse(_BULLET.sub(r"\1-", "\n".join(lines)))
    _blank_comments(lines, tokens)
    sections = tuple(section for section in _sections(lines, tokens) if section.blocks)
    return Document(front_matter=front_matter, sections=sections)


def front_matter_of(text: str) -> tuple[Mapping[str, str | tuple[str, ...]], list[str]]:
    """Return the front matter of a Markdown note (a text or texts by key, in lower case) and the lines behind it."""
    return _front_matter(text.splitlines())


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


def _blank_comments(lines: list[str], tokens: Sequence[Token]) -> None:
    """Take away the HTML comments that begin a line; inside code they are code."""
    for token in tokens:
        if token.type == "html_block" and token.map and token.content.lstrip().startswith("<!--"):
            first, end = token.map
            kept = _COMMENT.sub("", "\n".join(lines[first:end])).split("\n")
            lines[first:end] = [*kept, *[""] * (end - first - len(kept))]


def _sections(lines: Sequence[str], tokens: Sequence[Token]) -> Iterator[Section]:
    """Yield what stands under each heading; what stands before the first has an empty path."""
    above: list[tuple[int, str]] = []
    first = begin = 0
    for at, token in enumerate(tokens):
        if token.type != "heading_open" or token.level or not token.map:
            continue
        if title := " ".join(tokens[at + 1].content.split()):
            yield _section(above, lines[first : token.map[0]], _blocks(lines, tokens[begin:at]))
            level = int(token.tag[1:])
            above = [*(entry for entry in above if entry[0] < level), (level, shorten(title, _LONGEST_TITLE))]
            first, begin = token.map[1], at + 3
    yield _section(above, lines[first:], _blocks(lines, tokens[begin:]))


def _section(above: Sequence[tuple[int, str]], lines: Sequence[str], blocks: Iterator[SectionBlock]) -> Section:
    text = "\n".join(lines).strip("\n").rstrip()
    return Section(path=tuple(title for _, title in above), text=text, blocks=tuple(blocks))


def _blocks(lines: Sequence[str], tokens: Sequence[Token]) -> Iterator[SectionBlock]:
    """Yield the blocks of a section, in order."""
    lead = ""
    for at, token in enumerate(tokens):
        own = lines[slice(*token.map)] if token.map else ()
        if token.type == "list_item_open" and token.level == 1:
            inside = takewhile(lambda one: one.level > 1, (tokens[n] for n in range(at + 1, len(tokens))))
            if text := _item(own, laid_out=any(one.type in _LAID_OUT for one in inside)):
                yield SectionBlock(kind=BlockKind.ITEM, text=text, lead=lead)
        elif token.level:
            continue
        elif token.type in ("fence", "code_block"):
            begin = int(token.type == "fence")
            code = own[begin : begin + len(token.content.splitlines())]
            text = textwrap.dedent("\n".join(code)).strip("\n")
            if text.strip():
                yield SectionBlock(kind=BlockKind.CODE, text=text, lead=lead, language=token.info.strip())
            lead = ""
        elif token.type in ("paragraph_open", "blockquote_open", "html_block"):
            text = _joined([line.lstrip().removeprefix(">") for line in own])
            lead = text or lead
            if text:
                yield SectionBlock(kind=BlockKind.PARAGRAPH, text=text)


def _item(lines: Sequence[str], *, laid_out: bool) -> str:
    """Return an item without its mark; where a list or code stands inside, its lines stay as they are."""
    first, rest = _MARKER.sub("", lines[0], count=1), lines[1:]
    if laid_out:
        return "\n".join((first.strip(), textwrap.dedent("\n".join(rest)).strip("\n"))).strip()
    return _joined([first, *rest])


def _joined(lines: Sequence[str]) -> str:
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
