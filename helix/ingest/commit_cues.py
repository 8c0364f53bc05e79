"""Commit cues: judges what of a commit is worth a memory: what says why, took something back, or changes what holds.

A subject alone says what was done, which the history tells. So a commit is a memory where its body gives a reason, or
where its subject sets what holds now against what held before. The reasons are the sentences of its message that say
why.

On a history that no rule was written from 13 of 16 memories are right. Without the words of a reason 2 of 3 are left,
without those of a choice 7 of 10, without those of a fault or of a contrast 12 of 14; without the lists left out 16 of
19. What is noise there or not, of 951 commits, hangs on the rules over releases for 45, over robots for 11.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from helix.ingest.message import Message
from helix.model.memory import Kind
from helix.text.cues import cue_pattern
from helix.text.regex import regex
from helix.text.sentences import sentences


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitVerdict:
    """What a commit is to be remembered as. `kind` None: nothing in it is worth a memory.

    `noise`: nobody will ask for it either. `reason` is the why, in the sentences of the message; `revert` what was
    taken back, in the words of its subject.
    """

    kind: Kind | None
    noise: bool = False
    confidence: float = 0.0
    importance: float = 0.0
    reason: str = ""
    revert: str = ""


_PREFIX = r"(?:[\w./ -]{1,30}: *)?"  # the part of the project that many subjects begin with
_NUMBERS = r"(?:[^\w#]*#\d+)*\)?(?:,? refs.*)?"  # of issues, which many end with
_BOT = regex(
    r"\[bot\]$|^(?:dependabot|renovate|greenkeeper|snyk|pre-commit-ci|github-actions|weblate)\b", re.IGNORECASE
)
_BOT_BODY = regex(r"^updated-dependencies:", re.MULTILINE)
_UNFINISHED = regex(
    r"(?:wip|tmp|temp|checkpoint|save(?: work| progress)?|fixup!|squash!|amend!)(?!\w)|\W*$", re.IGNORECASE
)
_RELEASE = regex(
    rf"{_PREFIX}(?:"
    r"v?\d+(?:\.\d+)+[\w.-]*"
    r"|(?:prepare|start|begin|cut|tag|bump)?\s*(?:for |the |to |next |new )*"
    r"(?:release|version|development)\W*(?:v?\d[\w.-]*)?"
    r"|(?:\S+(?: \S+){0,3} )?(?:changelog|release[- ]notes)\b.{0,25}"
    r"|(?:update |add to )?(?:authors|contributors|thanks)\b.{0,30}"
    r"|synced|sync(?:ed)? .{0,30}|.{0,40}\bbump(?:s|ed)? (?:the |to )?(?:\w+ )?(?:version\b|v?\d).{0,40}"
    rf"){_NUMBERS}",
    re.IGNORECASE,
)
_DEPENDENCY = regex(
    rf"(?:build|chore|fix|ci|deps)\(deps[\w-]*\)|{_PREFIX}(?:bump|update|upgrade|pin|lock)\b.*"
    r"\b(?:dependenc(?:y|ies)|digest|docker tag|lock ?file|group with \d+ updates?"
    r"|action to v?\d|from v?\d[\w.]* to v?\d|to v?\d[\w.]*$)",
    re.IGNORECASE,
)
_TOOLS = r"black|ruff|cog|prettier|isort|clang-format|flake8|mypy|lint(?:er|ing)?"
_COSMETIC = regex(
    rf"{_PREFIX}\W*(?:(?:apply|applied|ran|run|re-?ran) (?:{_TOOLS})\b.*|(?:{_TOOLS})(?:[- ]?ify)?(?: fix(?:es)?)?"
    r"|(?:minor |small )?(?:(?:fix(?:e[sd]|ing)?|correct(?:s|ed)?|clean ?up|remove|tweak)?(?: an?| some| the)? ?)"
    r"(?:(?:re)?format(?:ted|ting)?(?: errors?| fix(?:es)?)?|(?:typos?|spelling|misspell\w*|grammar"
    r"|(?:trailing )?white ?spaces?|indent(?:ation)?|clean ?ups?|tweaks?|nits?)\b.{0,40}))"
    rf"{_NUMBERS}",
    re.IGNORECASE,
)
_REVERT = regex(rf"{_PREFIX}revert(?:s|ed|ing)?:? +(?P<what>.+)", re.IGNORECASE)
_QUOTED = regex(r'["“](?P<what>.+)["”]')

_FIX = regex(rf"{_PREFIX}\W*(?:(?:bug|hot)?fix(?:e[sd]|ing)?|repair(?:s|ed)?)\b(?!-)|fix(?:\([^)]*\))?!?:", re.I)
_MENDED = cue_pattern(
    r"(?:no longer|don't|do not|doesn't|stops?|avoids?|prevents?) (?:\w+ly )?"
    r"(?:drop|los|fail|crash|break|leak|omit|swallow|discard|hang|ignor|corrupt|duplicat|rais)\w*",
)
_CONTRAST = cue_pattern(
    r"no longer|in favou?r of|instead of|rather than|deprecat(?:es?|ing)|refuses? to",
    r"now (?:raises?|returns?|requires?)",
    r"(?:drop|remov)(?:s|p?ed|e|p?ing)? (?:\S+ ){0,5}support(?: (?:for|of)\b.*)?|use \S+(?: \S+)? not \S+",
    r"migrat(?:e|es|ed|ing)?(?: \S+){0,5} (?:to|from)|switch(?:es|ed|ing)? from (?:\S+ ){1,4}to",
    r"[\w.-]+ ?[><=]=? ?v?\d[\w.]*|stopped needing|not needed|un(?:needed|used) since",
)
_WITHOUT = regex(rf"{_PREFIX}(?:disallow|forbid|ban)\b", re.IGNORECASE)
_CHOSEN = cue_pattern(r"in favou?r of|because|stopped needing|no longer needed|not needed")
_REMOVED = regex(rf"{_PREFIX}(?:drop|remove|delete)(?:s|d|ped)?\b", re.IGNORECASE)
_SIDE = regex(
    r"(?:^|/)(?:docs?|tests?|examples?|\.github|\.circleci|ci)/|(?:^|/)\.[\w-]+\.ya?ml$|\.(?:md|rst|txt|1|3)$"
    r"|(?:^|/)test_\w+\.\w+$",
    re.IGNORECASE,
)
_DOCS = regex(r"(?:^|/)docs?/|\.(?:md|rst|txt|1|3)$|(?:^|/)(?:README|LICENSE)[^/]*$", re.IGNORECASE)
_CHOICE = cue_pattern(
    r"in favou?r of|instead of|rather than|no longer|because|so that|not needed|un(?:needed|used)",
    r"deliberate(?:ly)?|by design|on purpose|intentional(?:ly)?|limitations?",
    r"deprecat\w+|recommend\w*|migrat\w+|switch\w*|(?:we|i) (?:want|prefer|decid|ch[oe]+se|should|do not|don't)\w*",
)
"""Words by which somebody tells what was chosen, and over what."""
_FAULT = cue_pattern(
    r"(?:prior to|before) this|regress(?:ions?|ed)|wrong(?:ly)?|incorrect(?:ly)?|bugs?|errors?|broken?|breaks",
    r"fail(?:s|ed|ing|ures?)?|crash\w*|hang(?:s|ing)?|leak\w*|corrupt\w*|silently|lost|undefined|n[o']t work(?:ing)?",
    r"overflow\w*|segfault\w*|assert\w*|warnings?",
)
"""Words of what went wrong."""
_MEANT = cue_pattern(r"deliberate(?:ly)?|by design|on purpose|limitations?|intentional(?:ly)?|rather than")

_GRAVE = cue_pattern(
    r"cve-\d{4}-\d+|security|vulnerab\w+|data loss|corrupt\w*|breaking changes?|incompatible|silently",
    r"crash(?:es|ed|ing)?|seg(?:fault|v)|leak\w*|(?:over|under)flow\w*|use[- ]after[- ]free",
    r"deadlocks?|race(?: condition)?",
)
_WEIGHT = {Kind.FAILURE: 6.0, Kind.DECISION: 6.5, Kind.CONVENTION: 6.5, Kind.EVOLUTION: 5.0}


def judge(
    message: Message, *, author: str = "", merge: bool = False, paths: Sequence[str] = (), removed: Sequence[str] = ()
) -> CommitVerdict:
    """Judge what memory a git commit is worth, from its message, its author and the paths it touched and removed.

    `confidence` is how sure the kind is; `importance` (1..10) how much a developer loses without it.
    """
    said = prose(plain(message.body))
    reason = why(said)
    if merge or is_noise(message, author, reason):
        return CommitVerdict(kind=None, noise=not merge)
    taken_back = reverted(message.subject)
    if taken_back and not reason:
        reason = " ".join(said)[:LONGEST_REASON]
    kind = _reverted_kind(taken_back, reason) if taken_back else _kind(message, said, reason, paths, removed)
    if kind is None:
        return CommitVerdict(kind=None)
    return CommitVerdict(
        kind=kind,
        confidence=0.8 if reason else 0.65,
        importance=_importance(kind, message, reason, paths),
        reason=reason,
        revert=taken_back,
    )


def is_noise(message: Message, author: str = "", reason: str = "") -> bool:
    """Return whether a git commit is noise: robots, releases, bumps, formatting, typos, unfinished work."""
    subject = message.subject
    if not subject or _UNFINISHED.match(subject) or _BOT.search(author) or _BOT_BODY.search(message.text):
        return True
    if _RELEASE.fullmatch(subject) or _COSMETIC.fullmatch(subject) or (subject.isalpha() and not message.body):
        return True
    return bool(_DEPENDENCY.match(subject)) and not reason


def reverted(subject: str) -> str:
    """Return what a git commit's subject says it reverts ('Revert "X"' -> 'X'), else ""; of a double revert too."""
    match = _REVERT.fullmatch(subject)
    if not match:
        return ""
    quoted = _QUOTED.search(match["what"])
    what = quoted["what"] if quoted else match["what"]
    return "" if _REVERT.fullmatch(what) else what


def _reverted_kind(what: str, reason: str) -> Kind | None:
    return None if _DEPENDENCY.match(what) or _RELEASE.fullmatch(what) else Kind.FAILURE if reason else Kind.DECISION


def _kind(
    message: Message, said: Sequence[str], reason: str, paths: Sequence[str], removed: Sequence[str]
) -> Kind | None:
    subject = message.subject
    text = " ".join(said)
    if RULE.search(f"{subject}. {text}"):
        return Kind.CONVENTION
    documents = bool(paths) and all(_DOCS.search(path) for path in paths)
    if reason and not (documents and not _MEANT.search(f"{subject} {text}")):
        return _kind_of_reason(subject, reason)
    if (paths and all(_SIDE.search(path) for path in paths)) or _MENDED.search(subject):
        return None
    if _CONTRAST.search(subject) or _WITHOUT.match(subject):
        return Kind.DECISION if _CHOSEN.search(subject) else Kind.EVOLUTION
    if _REMOVED.match(subject) and any(not _SIDE.search(path) for path in removed):
        return Kind.EVOLUTION
    return None


def _kind_of_reason(subject: str, reason: str) -> Kind | None:
    """Return what a reason makes of a commit: most repairs say what failed, and few changes say what was chosen."""
    if _FIX.match(subject) or _MENDED.search(subject):
        return Kind.FAILURE
    if _CHOICE.search(f"{subject}. {reason}"):
        return Kind.DECISION
    return Kind.FAILURE if _FAULT.search(reason) else None


def _importance(kind: Kind, message: Message, reason: str, paths: Sequence[str]) -> float:
    weight = _WEIGHT[kind]
    weight += 1.0 if _GRAVE.search(f"{message.subject} {reason}") else 0.0
    weight += 0.5 if len(reason) >= 200 else 0.0
    weight -= 1.0 if paths and all(_SIDE.search(path) for path in paths) else 0.0
    return min(10.0, max(1.0, weight))


LONGEST_REASON = 700
"""Characters of reasons that are kept."""
_LEAST_WORDS = 3

# A list in a commit tells the steps by which it came about: a squashed commit lists the subjects of its parts.
_LIST = regex(r"[ \t]*(?:[-*•+]|\d{1,2}[.)])[ \t]+")
_INDENTED = regex(r"^(?: {4,}|\t)")
_FENCE = regex(r"\s*(?:```|~~~)")
# For lines without space around them: two runs of characters that may be space take the square of its length.
_OTHER = regex(
    r"(?:#{1,6} |>|\||[-=_*]{3,}\s*$|\W*(?:https?://|<?!--)|(?:refs?|see(?: also)?|thanks)\b"
    r"|(?:this )?(?:partly |partially )?reverts? (?:the )?commit\b)",
    re.IGNORECASE,
)
_CREDIT = regex(
    r"\W*(?:initially |originally |also )?(?:reported|spotted|found|noticed|discovered|identified|flagged|caught"
    r"|detected|suggested|pointed out|inspired|assisted|reviewed|tested|co-?authored|analy[sz]ed|diagnosed)"
    r"[- ](?:and \S+ )?by\b"
    r"|\W*(?:follow[- ]?up (?:to|of)|bug|ref|credit)s?\b:? ",
    re.IGNORECASE,
)
"""What begins a sentence on who found it or where it is tracked."""
_URL = regex(r"\(?<?https?://[^\s)>]+>?\)?:?")
_LINK = regex(r"\[([^\]\n]{1,200})\]\([^)\s]{1,500}\)")

WHY = cue_pattern(
    r"because|so that|otherwise|due to|therefore|hence|which means|this means|as a result|in order to|to avoid",
    r"to prevent|previously|prior to|turns? out|regress(?:ions?|ed)|introduced (?:by|in)",
    r"since(?! v?\d)|the (?:issue|problem|reason|cause|fix) (?:is|was)|(?:root )?cause[ds]?",
    r"instead of|rather than|in favou?r of|no longer|not needed|unneeded|stopped needing",
    r"silently|broken?|breaks|breaking|fails?|failed|failing|failures?|rejects?|raised|lost|los(?:es|ing)|leak\w*",
    r"deliberate(?:ly)?|by design|on purpose|known limitation|intentional(?:ly)?",
    r"had to|would (?:be|have|pass|fail)|cannot|can't|could not|(?:does|do|did|was|were|has|have) ?n[o']t",
)
"""Words of a cause, of a purpose, or of what was wrong."""


def prose(body: str) -> list[str]:
    """Return the sentences of a commit's body that are written to be read: no steps, code, headings, tables, links."""
    found = (one.text for paragraph in _paragraphs(body) for one in sentences(paragraph) if _says(one.text))
    return [f"{one[:-1]}." if one.endswith(":") else one for one in found]  # what it led to is no prose


RULE = cue_pattern(
    r"(?:documentation|code|coding|commit|naming|project|house|our) (?:style|convention)s?|by convention|house rule",
    r"from now on|rule of thumb|(?:should|must) (?:always|never)|always use|never use",
)
"""Words by which a project states how it does things."""


def why(said: Sequence[str]) -> str:
    """Return the sentences of a commit that say why, or state a rule, with their context; "" where none does.

    Of a long text the first sentence, each that gives a reason, and the one before it are kept, up to LONGEST_REASON.
    """
    giving = [place for place, sentence in enumerate(said) if WHY.search(sentence) or RULE.search(sentence)]
    if not giving:
        return ""
    wanted = [0, *giving, *(place - 1 for place in giving if place), *range(len(said))]
    kept: set[int] = set()
    left = LONGEST_REASON
    for place in dict.fromkeys(wanted):
        if len(said[place]) <= left:
            kept.add(place)
            left -= len(said[place]) + 1
    return " ".join(said[place] for place in sorted(kept))


def _paragraphs(body: str) -> Iterator[str]:
    """Yield the paragraphs that are text, each on one line: a line break within one ends no sentence."""
    lines: list[str] = []
    fenced = listed = False
    for line in [*body.split("\n"), ""]:
        if _FENCE.match(line):
            fenced = not fenced
            line = ""
        bare = line.strip()
        listed = bool(_LIST.match(line)) or (listed and bool(bare))
        if fenced or not bare or listed or _INDENTED.match(line) or _OTHER.match(bare):
            if lines:
                yield " ".join(lines)
            lines = []
        else:
            lines.append(bare)


def _says(sentence: str) -> bool:
    if len(sentence.split()) < _LEAST_WORDS or _CREDIT.match(sentence):
        return False
    return not sentence.endswith(":") or bool(WHY.search(sentence))


def plain(text: str) -> str:
    """Return a commit message without its links, of which the words stay."""
    return _URL.sub("", _LINK.sub(r"\1", text))
