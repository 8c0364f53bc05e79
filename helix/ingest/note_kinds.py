"""Note kinds: judges by their words what kinds of memory the sections of a note hold, and drafts their texts.

Not measured, as no public notes have labels of their kinds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from helix.ingest.plain import shorten
from helix.ingest.sections import BlockKind, Section, SectionBlock
from helix.model.memory import Kind
from helix.text.chunks import chunks
from helix.text.cues import DECISION, IMPERATIVE, PITFALL, PREFERENCE, RULE, cue_pattern
from helix.text.sentences import sentences

_LONGEST_RULE = 600
_LONGEST_SNIPPET = 4_000
_LONGEST_REST = 3_000
_LONGEST_TRIGGER = 300
_LONGEST_NAME = 100
_BEGINNING = 200
_FEWEST_WORDS = 3
_FEWEST_WORDS_OF_TEXT = 6
_FEWEST_WORDS_OF_ITEM = 8
_SHORTEST_PARAGRAPH = 80
"""Characters from which a paragraph is a memory of its own; shorter ones are kept together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionNote:
    """One thing that a section says, as a memory would say it; `name` is what it can be called by."""

    kind: Kind
    trigger: str
    resolution: str
    confidence: float
    name: str = ""
    attributes: Mapping[str, object] = field(default_factory=dict, compare=False)


_RULES_HEADING = cue_pattern(
    r"rules?|conventions?|guidelines?|standards?|(?:code |coding )?style|principles|practices|instructions?|naming",
    r"do'?s?(?: and don'?ts?)?|don'?ts?|policy|policies|workflow|checklist",
)
_PREFERENCE_HEADING = cue_pattern(r"preferences?|about me|how i (?:work|like)")
_DECISION_HEADING = cue_pattern(r"decisions?|rationale|why we .+|trade-?offs?|adr")
_FAILURE_HEADING = cue_pattern(
    r"gotchas?|pitfalls?|caveats?|troubleshooting|known (?:issues|bugs|problems)|common (?:mistakes|errors|problems)"
)
_MARKUP = re.compile(r"!?\[[^\]]{0,300}\]\([^)]{0,500}\)|https?://\S+|</?[a-zA-Z][^<>]{0,500}>")


def notes_of(section: Section, title: str, *, titled: bool = True) -> Iterator[SectionNote]:
    """Yield what a Markdown note's section says: each rule, each explained piece of code, and the rest as prose.

    The title of the document, `title` or where it is `titled` the heading above all others, tells no note from
    another: a note that stands under it alone begins with its own first sentence. Nothing is said twice.
    """
    heading = " > ".join(section.path[titled:][-2:])
    last = section.path[-1] if section.path else title
    short: list[str] = []
    blocks = list(section.blocks)
    for at, block in enumerate(blocks):
        if block.kind is BlockKind.ITEM and len(block.text) > _LONGEST_RULE:
            yield from _rest(block.text, heading, last)
        elif block.kind is BlockKind.ITEM and _stands_alone(block.text, last):
            yield _rule(block, heading, last)
        elif block.kind is BlockKind.CODE and (snippet := _snippet(block, heading, last, alone=len(blocks) == 1)):
            yield snippet
        elif block.kind is BlockKind.PARAGRAPH and _leads(block, blocks[at + 1 :], heading, last):
            continue  # it is part of what it leads to
        elif block.kind is BlockKind.PARAGRAPH and len(block.text) >= _SHORTEST_PARAGRAPH:
            yield from _rest(block.text, heading, last, named=True)
        else:
            short.append(f"- {block.text}" if block.kind is BlockKind.ITEM else block.text)
    yield from _rest("\n\n".join(short), heading, last)


def kind_of(text: str, heading: str) -> Kind:
    """Return the kind of memory that a Markdown note's text under a heading is ingested as."""
    for kind, told, headed in (
        (Kind.PREFERENCE, PREFERENCE, _PREFERENCE_HEADING),
        (Kind.DECISION, DECISION, _DECISION_HEADING),
        (Kind.FAILURE, PITFALL, _FAILURE_HEADING),
        (Kind.CONVENTION, RULE, _RULES_HEADING),
    ):
        if told.search(text) or headed.search(heading):
            return kind
    return Kind.CONVENTION if IMPERATIVE.match(_bare(text)) else Kind.FACT


def _bare(text: str) -> str:
    """Return the text without the marks of emphasis and code that it begins with."""
    return text.lstrip("*_`~# ")


def _stands_alone(text: str, heading: str) -> bool:
    """Return whether a list item is a memory of its own: a rule in a few words, or anything told in a sentence."""
    said = len(_MARKUP.sub(" ", text).split())
    return said >= _FEWEST_WORDS_OF_ITEM or (said >= _FEWEST_WORDS and kind_of(text, heading) is not Kind.FACT)


def _rule(block: SectionBlock, heading: str, last: str) -> SectionNote:
    lead = block.lead.rstrip(": ") if block.lead.endswith(":") else ""
    trigger, resolution = _trigger_and_resolution(block.text, heading, lead)
    return SectionNote(
        kind=kind_of(block.text, last),
        trigger=trigger,
        resolution=resolution,
        confidence=0.9,
        name=shorten(block.text, _LONGEST_NAME),
    )


def _snippet(block: SectionBlock, heading: str, last: str, *, alone: bool) -> SectionNote | None:
    """Return the code with the words that explain it: the paragraph before, or the heading that it stands under."""
    if len(block.text) > _LONGEST_SNIPPET or not (block.lead or heading or alone):
        return None
    attributes: dict[str, object] = {"language": block.language.split()[0]} if block.language else {}
    return SectionNote(
        kind=Kind.SNIPPET,
        trigger=shorten(
            ": ".join(part for part in (heading, block.lead.rstrip(": ")) if part) or last, _LONGEST_TRIGGER
        ),
        resolution=block.text,
        confidence=0.8,
        attributes=attributes,
    )


def _trigger_and_resolution(text: str, heading: str, lead: str = "") -> tuple[str, str]:
    """Return when a note matters and what it says: by its heading and what leads to it, else by its first sentence."""
    if about := ": ".join(part for part in (heading, lead) if part):
        return shorten(about, _LONGEST_TRIGGER), text
    text = text.removeprefix("- ")
    first = next((one.text for one in sentences(" ".join(text.split()))), text)
    if len(first) > _LONGEST_TRIGGER or not text.startswith(first):
        return shorten(first, _LONGEST_TRIGGER), text
    return first, text[len(first) :].strip()


def _leads(block: SectionBlock, following: Sequence[SectionBlock], heading: str, last: str) -> bool:
    """Return whether a paragraph announces the list or code after it, or is a fact that stands whole in a snippet."""
    if not (following and following[0].lead == block.text):
        return False
    if block.text.endswith(":") and len(block.text) < 200:
        return True
    snippet = _snippet(following[0], heading, last, alone=False) if following[0].kind is BlockKind.CODE else None
    return snippet is not None and snippet.trigger.endswith(block.text) and kind_of(block.text, last) is Kind.FACT


def _rest(text: str, heading: str, last: str, *, named: bool = False) -> Iterator[SectionNote]:
    """Yield running text as memories; `named` gives each a name of its own words rather than of its heading."""
    said = len(re.findall(r"[^\W_]+", _MARKUP.sub(" ", text)))
    if said < _FEWEST_WORDS or (said < _FEWEST_WORDS_OF_TEXT and kind_of(text, "") is Kind.FACT):
        return
    for piece in chunks(text, _LONGEST_REST):
        # Of a long text its beginning tells the kind: somewhere in it stands every cue.
        kind = kind_of(piece if len(piece) <= _LONGEST_RULE else piece[:_BEGINNING], last)
        trigger, resolution = _trigger_and_resolution(piece, heading)
        yield SectionNote(
            kind=kind,
            trigger=trigger,
            resolution=resolution,
            confidence=0.8,
            name=shorten(_bare(piece), _LONGEST_NAME) if named else "",
        )
