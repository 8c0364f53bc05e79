"""Replacement: what a statement says of the newer state and of the one it replaces, told from its words.

`We moved the API from Heroku to Fly.io` says where the API is, and denies where it was; `now`, `since Monday` and
`correction:` say that something else held or was said before, and nothing of the thing itself.

On the held-out pairs of changed minds (60 contradict, 57 are found, mended once after they were seen): without the
words of what is newer 45 are found, without those of what is old 48, without the speaker's name 43. With a foreign
reason behind one of the two, 434 of 448 contradictions of the other held-out pairs are found, without the words of a
reason 19. Where two people say them and begin small, 17 are found, without `we` and `our` none. With a foreign clause
and a colon before a decision 63 of 154 are found, 26 if it is read along. Without the words of the past 6 of 21,981
pairs tell of a change that is history.

Two changed one pair each, and stay: a change that is denied must end nothing, and `not 200 as I said` is meant to.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from helix.text.cues import CORRECTION
from helix.text.discourse_markers import without_openers
from helix.text.regex import regex
from helix.text.statement.wording import NARROWING, terms, words
from helix.text.word_lists import word_list

_EVENTS = (
    r"outage|incident|audit|migration|move|reorg(?:ani[sz]ation)?|upgrade|review|release|switch|merger|refactoring"
    r"|rewrite|postmortem|launch|update|change"
)
_DAY = (
    r"(?:(?:this|next|last) \w+|(?:mon|tues|wednes|thurs|fri|satur|sun)day|yesterday|today|tomorrow|now"
    r"|(?:january|february|march|april|may|june|july|august|september|october|november|december)(?: \d{1,4})?"
    r"|\d{4}(?:-\d\d)*|(?:version|release|v) ?\d[\w.]*|v?\d+(?:\.\d+)+)"
)
_NOT_THAT = regex(r"not (?P<old>[\w.:/-]+)[,;] (?=\w+ \w+ \w+)", re.IGNORECASE)
# Signs that a state is newer than another one; they say nothing of the state itself.
_NEWER = regex(
    rf"(?:^(?:since|as of|from|starting|beginning|effective) (?:{_DAY}|(?:the|our) (?:\w+ )?(?:{_EVENTS}))(?: on)?,? "
    rf"|^after (?:the|our) (?:\w+ )?(?:{_EVENTS}),? "
    r"|^(?:after|following|because of|due to|thanks to) [^,;:]{1,60}?,? (?=we(?:'ve| have)? (?:decided|agreed)\b)"
    r"|,? \b(?:from (?:now|today|tomorrow|(?:this|next) \w+)(?: on(?:wards?)?)?"
    rf"|from {_DAY} on(?:wards)?"
    rf"|(?:as of|starting|beginning|effective) (?:immediately|{_DAY})"
    r"|since [^,.;:]{1,40}(?=[,.;!]|$)|(?:right|by|as of|until) now|(?:at present|at the moment|these days"
    r"|in the meantime|after all|any ?more|any longer|once more|(?:once )?again(?=[.!]|$))"
    r"|now|currently|nowadays|today|meanwhile)\b"
    r"|^(?:from now on|as of now|as of today|effective immediately|now|currently|nowadays|today|these days"
    r"|in the meantime|meanwhile|by now),? )",
    re.IGNORECASE,
)
_HAS_BEEN = regex(r"\bha(?:s|ve) been\b(?! \w+ed\b)", re.IGNORECASE)
_NO_LONGER = regex(r"\bno (?:longer|more)\b", re.IGNORECASE)
# What was, told as history: it says nothing of what is.
_PAST = regex(
    r"\b(?:used to|formerly|previously|originally|back then|at (?:that|the) time|in those days"
    r"|in the (?:beginning|past)|(?<!since )last (?:year|month|week|quarter|summer|winter|spring|autumn)"
    r"|(?:weeks|months|years) ago"
    r"|until (?:\d{4}|then|recently|last \w+)|in (?:19|20)\d\d|in (?:version|release|v) ?\d"
    rf"|before the (?:\w+ )?(?:{_EVENTS}))\b",
    re.IGNORECASE,
)
_UNREAL = regex(
    r"\b(?:if|whether|when|whenever|unless|before|after|until|might|may|could|would|should we|shall we|maybe|perhaps"
    r"|some ?day|consider\w*|propos\w+|suggest\w*|think\w*|want\w*|wonder\w*|plan\w*)\b|\?",
    re.IGNORECASE,
)
_DENIED = regex(r"\b(?:not|never|don't|didn't|haven't|hasn't|won't|cannot|can't|against)\b", re.IGNORECASE)
_VERB = (
    r"(?:(?:re)?mov|switch|migrat|chang|upgrad|downgrad|rais|lower|increas|decreas|reduc|port|convert|transition"
    r"|relocat|renam|bump|extend|shorten|cut|set|went|goe?|grow|grew|shrink|shrunk)(?:e?s|e?d|ped|ted|ing|e)?"
)
# `The port was changed from 1 to 2`, `we raised the limit to 2`: the port is 2.
_BECAME = regex(
    rf"^(?P<of>(?:the|our|its|their) [^,;.]+?) (?:(?:was|were|has been|have been|has|have|got|is|are) )?(?:{_VERB})"
    r"(?: (?:up|down|over|back))?(?: from (?P<old>[^,;.]+?))? to (?P<value>[^,;]+)",
    re.IGNORECASE,
)
_WE_MADE_IT = regex(
    r"^(?:we|i|they|the team)(?:'ve| have)?(?: now| just)?(?: (?:decided|agreed) to)? "
    rf"(?:{_VERB}) (?P<of>(?:the|our) [^,;.]+?)(?: from (?P<old>[^,;.]+?))? to (?P<value>[^,;]+)",
    re.IGNORECASE,
)
# `..., but not in the CLI`: an exception denies nothing of the rest.
_EXCEPTION = regex(r",? but not (?:in|on|for|with|at|when|if|to|from|by)\b[^,;.]*", re.IGNORECASE)
# `, not 200 as I said`: what it was taken for.
_NOT_AS_SAID = regex(
    r", (?:and )?not (?:(?:on|in|at|to|with|for) )?[\w./%-]+(?: \w+)?"
    r"(?: (?:as|like) (?:i|we) (?:said|wrote|thought)(?: \w+)?)?[.!]?$",
    re.IGNORECASE,
)
_REWRITTEN = regex(r"\bre(?=wr(?:ite|ote|itten)\b)", re.IGNORECASE)
_HAVE_DECIDED = regex(r"\b(we|i)(?:'ve| have)(?= (?:now )?(?:decided|agreed)\b)", re.IGNORECASE)
_DECIDED_AGAINST = regex(r"(?<=\bdecided )against\b", re.IGNORECASE)
_ADOPTED = regex(r"\b(?P<chose>decided|agreed) to (?:adopt|introduce|go with|bring in|choose)\b", re.IGNORECASE)
# What limits the whole of a statement to a case.
_CASE = regex(r"^(?:if|unless|when(?:ever)?|while|during|except|in|on|for|with|without|under)\b[^,]{1,60}(?=, )", re.I)
_IT_IS = regex(r"^(?P<of>.+?) (?:isn't|is not|aren't|are not) [^,;]+[,;] (?:but|it is|it's|they are) ", re.I)
_STOP = (
    r"(?=(?:\.? (?:to|with|by|in|on|for|from|as|at|after|because|since|and|but|of|when|if|per|before|so|out|over|is|are"
    r"|instead|rather|altogether|entirely|completely|again|now|any)\b)|[,;:!?]|\.(?: |$)|$)"
)
_THING = r"(?:(?:the|our|an?|all) )?[\w./+#'-]+?(?: [\w./+#'-]+?){0,4}?" + _STOP
_OF_IT = (
    r"(?:(?:the )?(?:support (?:for|of)|use of|usage of|using|idea of|practi[cs]e of|decision (?:on|for|to use)) )?"
)
_ENDED = (
    r"(?:drop(?:ped|ping)?|abandon(?:ed|ing)?|stop(?:ped|ping)?|remov(?:e|ed|ing)|g[eo]t(?:ting)? rid of"
    r"|retir(?:e|ed|ing)|abolish(?:ed|ing)?|scrap(?:ped|ping)?|ditch(?:ed|ing)?|deprecat(?:e|ed|ing)"
    r"|leav(?:e|ing)|left|discontinu(?:e|ed|ing)|phas(?:e|ed|ing) out|mov(?:e|ed|ing) (?:away from|off(?: of)?)"
    r"|cancel(?:led|ed|ling)?|revers(?:e|ed|ing)|revert(?:ed|ing)?|giv(?:e|ing) up(?: on)?|gave up(?: on)?|quit"
    r"|do away with|did away with|end(?:ed|ing)?|kill(?:ed|ing)?|withdr[ae]w|revok(?:e|ed|ing)|los[et])"
)
_ON_PURPOSE = regex(r"\b(?:we|we're|they|i|the team|everybody|decided|decision|agreed|chose)\b", re.IGNORECASE)
_DECIDED = regex(r"\b(?:decided|decision|agreed)\b", re.IGNORECASE)
_OLD = tuple(
    regex(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b(?:{_VERB}|rewr[io]te)\b[^,;.]*? from (?P<old>{_THING}) to (?P<new>{_THING})",
        rf"\breplac(?:e|ed|ing) (?P<old>{_THING}) (?:with|by) (?P<new>{_THING})",
        rf"\bswap(?:ped|ping)? (?P<old>{_THING}) (?:for|with) (?P<new>{_THING})",
        rf"\b{_ENDED} {_OF_IT}(?P<old>{_THING})",
        rf"\b(?:take|took|taking|throw|threw|kick|kicked) (?P<old>{_THING}) out\b",
        rf"\bchanged (?:my|our) minds? (?:about|on) {_OF_IT}(?P<old>{_THING})",
    )
)
# These say by themselves that something is no longer so, whoever does it.
_OLD_PLAINLY = tuple(
    regex(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?P<new>[\w./+#'-]+(?: [\w./+#'-]+){{0,2}}),? (?:instead of|rather than|in place of) (?P<old>{_THING})",
        rf"\b(?:chose|choose|picked|prefer) (?P<new>{_THING}) over (?P<old>{_THING})",
        rf"(?P<new>[\w./+#'-]+(?: [\w./+#'-]+){{0,2}}), (?:and )?not (?P<old>{_THING})",
        rf"^(?P<old>{_THING}) (?:is out(?=[,;])|(?:is|are) (?:retired|history|discontinued|abandoned|obsolete"
        r"|dropped)\b)",
        rf", (?P<old>{_THING}) (?:is|are|was) (?:out|gone|retired|dead|history|discontinued|obsolete|dropped|taken)\b",
        rf"\bno longer (?:(?:use|uses|support|supports|have|has|run|runs) )?(?:on |with )?(?P<old>{_THING})",
        rf"(?P<new>\w+) (?:(?:has|have) )?(?:taken|took) over [^,;:]+? from (?P<old>{_THING})",
        rf"\b(?:not|n't) (?P<old>{_THING}(?: on [^,;]+?)?) but (?P<new>(?:on |in |with )?{_THING})",
    )
)
_LIGHT = terms(" ".join(word_list("text/statement/replacement", "light")))
# What is told before a decision is its reason, where it says something: `staging: we decided` limits it.
_FOREWORD = regex(
    r"^[^:]*\b(?:is|are|was|were|has|have|says?|said|could|\w+n't) [^:]+: (?=we(?:'ve| have)? (?:decided|agreed)\b)",
    re.I,
)
_CLAUSE = regex(r"[,;] |\.\s+| (?:because|otherwise|or else|so that)\b ?", re.IGNORECASE)
_ENDING = terms(" ".join(word_list("text/statement/replacement", "ending")))
# What stands before the thing that is put in another's place.
_BEHIND = regex(r"\b(?:is|are|be|in|on|at|to|with|by|from|for|through|into|use|uses|using)\b", re.IGNORECASE)
_REASON = regex(r"(?:because|since|otherwise|so that|the reason|or else|that way|this (?:is|way|avoids|keeps))\b", re.I)
_SPOKEN = regex(r"^(?P<who>[^\s:,]{1,40}): (?=\S+ \S+)")
_FIRST_PERSON = regex(r"\b(?:i|i'm|i've|i'd|my|we|we're|we've|our)\b", re.IGNORECASE)
_LIMITING = NARROWING | word_list("text/statement/replacement", "limiting")
_FEWEST_WORDS = 3
_MOST_MORE = 3
_LONGEST = 600


@dataclass(frozen=True, slots=True, kw_only=True)
class Replaced:
    """What a statement says no longer holds (`old`) and what does instead (`new`, may be empty); `rest`: of what else.

    All three are sets of terms, without the words that only say that something is used, chosen or changed.
    """

    old: frozenset[str]
    new: frozenset[str]
    rest: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementReading:
    """A statement without what only says when and why it is made.

    `text`: what it says of the present. `newer`: it says that something else held, or was said, before. `moved`: it
    says what is by telling where something went. `aside`: it asks, or tells of what was. `case`: the words of a
    condition that it begins with. `speaker`: whose words they are.
    """

    text: str
    speaker: str
    case: frozenset[str]
    newer: bool
    moved: bool
    aside: bool
    replaced: tuple[Replaced, ...]


@lru_cache(maxsize=4096)
def read_statement(text: str) -> StatementReading:
    """Return a statement read for its signs of time and change; one of more than 600 characters is left as it is."""
    if len(text) > _LONGEST:
        return StatementReading(
            text=text, speaker="", case=frozenset(), newer=False, moved=False, aside=False, replaced=()
        )
    speaker, bare = _spoken(text)
    plain, corrected = _without_corrections(without_openers(bare).strip())
    past = _PAST.search(plain) is not None
    present, moved = (plain, False) if past else _present(plain)
    replaced = () if past else tuple(_replaced(_NEWER.sub(" ", plain).strip()))
    case = _CASE.match(plain)
    return StatementReading(
        text=present or bare,
        speaker=speaker,
        case=frozenset() if case is None else frozenset(words(case[0])),
        newer=corrected or bool(replaced) or words(present) != words(plain),
        moved=moved,
        aside=past or plain.endswith("?"),
        replaced=replaced,
    )


def states_change(text: str) -> bool:
    """Return whether a statement says that something no longer holds."""
    return bool(read_statement(text).replaced)


@lru_cache(maxsize=4096)
def clauses(text: str) -> tuple[str, ...]:
    """Return the clauses of a statement that claim something by themselves, the first one first; all of it if none do.

    A reason or a remark behind a statement is no part of what it claims. A condition, an exception or a case is: where
    one is found, nothing is taken apart.
    """
    foreword = _FOREWORD.match(text)
    told = ("", text) if foreword is None else (foreword[0].rstrip(": "), text[foreword.end() :])
    parts = [part.strip() for side in told for part in _CLAUSE.split(side) if part.strip()]
    if any(_LIMITING.intersection(words(part)[:1]) for part in parts):
        return (text,)
    return tuple(part for part in parts if len(words(part)) >= _FEWEST_WORDS) or (text,)


def is_reason(text: str) -> bool:
    """Return whether what stands behind a statement says only its reason."""
    return _REASON.match(text) is not None


def denied_by(change: StatementReading, other: StatementReading) -> tuple[Replaced, bool] | None:
    """Return what one statement says of another is no longer so, and whether both speak of the same; or None.

    The other one has to name what is replaced and must not deny it itself.
    """
    held = terms(other.text).difference(_LIGHT, *(gone.old for gone in other.replaced))
    for one in change.replaced:
        rest = held - one.old
        if not one.old <= held or (one.new and one.new <= rest):
            continue
        said = one.rest | (one.new & rest)
        if rest == said:
            return one, True
        if said < rest or (rest < said and len(said - rest) <= _MOST_MORE):
            return one, False
    return None


def _present(plain: str) -> tuple[str, bool]:
    """Return what a statement says of the present, and whether it says so by telling where something went."""
    found = _BECAME.match(plain) or _WE_MADE_IT.match(plain)
    # What it was before says which of its values is meant: `we moved the queue from db-1 to db-2`.
    moved = found is not None and (found["old"] is None or found["old"][0].isdigit())
    now = f"{found['of']} is {found['value']}" if found and moved else _IT_IS.sub(r"\g<of> is ", plain)
    now = _ADOPTED.sub(r"\g<chose> to use", _DECIDED_AGAINST.sub("not to use", now))
    now = _NOT_AS_SAID.sub("", _REWRITTEN.sub("", _EXCEPTION.sub("", now)))
    now = _HAS_BEEN.sub("is", _NO_LONGER.sub("not", _NEWER.sub(" ", _HAVE_DECIDED.sub(r"\1", now)).strip()))
    return " ".join(now.split()), moved


def _spoken(text: str) -> tuple[str, str]:
    """Return who says it, where that stands before it, and what is said: `mira: We use tabs`, not `api: port 80`."""
    said = _SPOKEN.match(text)
    if said is None or without_openers(text) != text or CORRECTION.match(text):
        return "", text
    if _FIRST_PERSON.search(text, said.end()) or text[said.end()].isupper():
        return said["who"], text[said.end() :]
    return "", text


def _without_corrections(text: str) -> tuple[str, bool]:
    found, place = False, 0
    while (match := CORRECTION.match(text, place) or _NOT_THAT.match(text, place)) is not None and match.end() > place:
        found, place = True, match.end()
    return (text[place:], True) if found and len(text[place:].split()) >= _FEWEST_WORDS else (text, False)


def _replaced(text: str) -> Iterator[Replaced]:
    """Yield what a statement says no longer holds, each part of it once."""
    seen: list[tuple[int, int]] = []
    for pattern in (*_OLD_PLAINLY, *_OLD):
        for match in pattern.finditer(text):
            start, end = match.span("old")
            before = text[: match.start()]
            clause = re.split(r"[;.] ", before)[-1]
            told = pattern in _OLD_PLAINLY or _ON_PURPOSE.search(clause) or _DECIDED.search(text)
            real = not _UNREAL.search(clause) and not _DENIED.search(_own_clause(clause))
            if not told or not real or any(start < e and s < end for s, e in seen):
                continue
            old, new = (terms(side) - _LIGHT for side in (match["old"], _object(match)))
            if not old:
                continue
            seen.append((start, end))
            first = clauses(text)[0]
            rest = terms(first if end <= len(first) else text) - old - new - _LIGHT
            yield Replaced(old=old, new=new - old, rest=rest - _ENDING)


def _own_clause(before: str) -> str:
    """Return what stands before a word in its own clause: the last parts from that on which says who does it."""
    parts = re.split(r"(?<=[,:]) ", before)
    first = next((place for place in reversed(range(len(parts))) if _ON_PURPOSE.search(parts[place])), 0)
    return " ".join(parts[first:])


def _object(match: re.Match[str]) -> str:
    """Return what stands in the place of the old: what is behind the last preposition or form of `to be`."""
    return _BEHIND.split(match.groupdict().get("new") or "")[-1]
