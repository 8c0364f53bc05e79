"""Cues: judges by its words what kind of memory a commit is, how sure that is, and how much it weighs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from helix.ingest.message import Message
from helix.model.memory import Kind
from helix.text.cues import words

_EXPLAINED = 200
"""Characters of body from which on a commit is taken to say much more than its subject."""
_SAID = 60
"""Characters of body from which on a version bump is taken to say why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a commit is to be remembered as. `kind` None: nothing in it is worth a memory.

    `revert` is what was taken back, in the words of its subject; `faulty`: the body speaks of something gone wrong.
    """

    kind: Kind | None
    confidence: float = 0.0
    importance: float = 0.0
    revert: str = ""
    faulty: bool = False


_PREFIX = r"(?:[\w./ -]{1,30}: *)?"  # the part of the project that many subjects begin with
_BOT = re.compile(
    r"\[bot\]$|^(?:dependabot|renovate|greenkeeper|snyk|pre-commit-ci|github-actions|weblate)\b", re.IGNORECASE
)
_UNFINISHED = re.compile(
    r"(?:wip|tmp|temp|checkpoint|save(?: work| progress)?|fixup!|squash!|amend!)(?!\w)|\W*$", re.IGNORECASE
)
_RELEASE = re.compile(
    rf"{_PREFIX}(?:"
    r"v?\d+(?:\.\d+)+(?:[-.]\w+)*"
    r"|(?:prepare|start|begin|cut|tag|bump)?\s*(?:for |the |to |next |new )*"
    r"(?:release|version|development)\W*(?:v?\d[\w.-]*)?"
    r"|(?:update |add to )?(?:the )?(?:changelog|release[- ]notes|authors|contributors|thanks)\b.{0,30}"
    r"|synced|sync(?:ed)? .{0,30}|.{0,40}\bbump(?:s|ed)?\b.{0,60}"
    r")",
    re.IGNORECASE,
)
_DEPENDENCY = re.compile(
    rf"(?:build|chore|fix|ci|deps)\(deps[\w-]*\)|{_PREFIX}(?:bump|update|upgrade|pin|lock)\b.*"
    r"\b(?:dependenc(?:y|ies)|digest|docker tag|lock ?file|action to v?\d|from v?\d[\w.]* to v?\d|to v?\d[\w.]*$)",
    re.IGNORECASE,
)
_COSMETIC = words(
    r"typos?|spelling|misspell\w*|grammar|copyright years?",
    r"white ?spaces?|trailing spaces?|indent(?:ation)?|reformat(?:ted)?",
)
_REVERT = re.compile(rf"{_PREFIX}revert(?:s|ed|ing)?:? +(?P<what>.+)", re.IGNORECASE)
_QUOTED = re.compile(r'["“](?P<what>.+)["”]')

_FAULT = words(
    r"fix(?:e[sd]|ing|up|ups)?|bug(?:s|fix|fixes)?|hotfix|repair(?:s|ed)?|unbreak|unstick|oops|work ?arounds?",
    r"work around|broken|broke|breakage|regress(?:ions?|ed)|cve-\d{4}-\d+",
    r"crash(?:es|ed|ing)?|seg(?:fault|v)s?|leak(?:s|ed|ing|age)?|(?:over|under)flow(?:s|ed|ing)?",
    r"out[- ]of[- ]bounds?|use[- ]after[- ]free|double[- ]free|null(?:[- ]pointer)?[- ]deref\w*|dangling",
    r"memory corruption|hang(?:s|ing)?|stuck|deadlocks?|livelock|race(?: conditions?)?|data races?",
    r"infinite(?:ly)? loop\w*|endless loops?",
)
# A test, a document or a tool about crashes is work done, not something gone wrong.
_ABOUT_TROUBLE = re.compile(
    rf"{_PREFIX}(?:(?:add|write|extend|improve|document|describe|measure|report)(?:s|ed|ing)?\b"
    r"|\w+ (?:tests?|benchmarks?)\b)",
    re.IGNORECASE,
)
_FAULT_LIKE = words(
    r"avoid(?:s|ed|ing)?|prevent(?:s|ed|ing)?|handle[sd]?|ensure[sd]?|make sure|don't|do not|again|only",
    r"missing|incorrect(?:ly)?|wrong(?:ly)?|invalid|correct(?:ly|s)?|proper(?:ly)?",
    r"fail(?:s|ed|ing|ures?)?|errors?|warnings?|silence[sd]?|timeouts?|bail(?:s|ed)?|reject(?:s|ed)?",
    r"restore[sd]?|reintroduce|bring back|check(?:s|ed)?|guard|reset|clear",
)
_FAULT_TOLD = words(
    r"regress(?:ion|ed)|bugs?|broken?|breaks|breakage|crash\w*|leak\w*|overflow\w*|vulnerab\w+|undefined behaviou?r",
    r"this (?:commit |patch |change )?(?:fix|repair|correct|solve)\w*|fixe[sd]|fixing",
    r"(?:prior to|before) this (?:change|commit|patch)|the (?:problem|issue) (?:was|is)",
    r"(?:spotted|found|pointed out|detected|reported) by|coverity|oss-fuzz",
    r"would (?:otherwise |then |still )?(?:fail|crash|hang|return|cause|lead)|caus(?:es|ed|ing)",
    r"fail(?:s|ed|ing|ures?)|wrong(?:ly)?|incorrect(?:ly)?",
)
_CHOICE = words(
    r"deprecat\w+|drop(?:s|ped|ping)?(?: \S+){0,4} support|remov(?:e[sd]?|ing)(?: \S+){0,4} support",
    r"drop(?:s|ped|ping)? support\b.*|get rid of|say no to|goodbye|no longer|(?:disallow|forbid|ban)(?:s|ned|ed)?",
    r"switch(?:es|ed|ing)?(?: \S+){0,5} (?:to|from|over)|migrat(?:e[sd]?|ing|ion)(?: \S+){0,5} (?:to|from)",
    r"replac(?:e[sd]?|ing) .+ (?:by|with)|requir(?:e[sd]?|ing) (?:at least )?\S+ v?\d[\w.]*",
    r"(?:bump|raise|increase)[sd]? (?:the )?min(?:imum|imal)?\b.*|by default|(?:the|as|new) default",
    r"stop(?:s|ped)? (?:support\w*|using|building|shipping)|moved? .+ to (?:its own|a separate)",
    r"decid(?:e[sd]?|ing)|decision|policy|adopt(?:s|ed)?|standardi[sz]e[sd]? on",
)
_CHOICE_TOLD = words(
    r"we (?:have |had )?(?:decided|chose|chosen|agreed|opted)|(?:was|were|been|i) decided",
    r"decided (?:to|that|against)|the decision|going forward|this drops support|is (?:now )?deprecated",
)
_RULE = words(
    r"(?:code|coding)[- ]?style|style ?guide|lint(?:s|er|ers|ing)?|checksrc|clang-format|ruff|pylint|eslint|prettier",
    r"editorconfig|(?:naming )?conventions?|guidelines?|code of conduct|never|must(?: not)?|shall",
    r"(?<!is )(?<!are )always(?! (?:true|false|at|one|zero|the same))",
)
_RULE_TOLD = words(
    r"from now on|by convention|always use|never use|(?:should|must) (?:always|never)|please (?:use|do not|don't)",
    r"our (?:code |coding )?style|style guide|consistent(?:ly)? (?:use|style|naming)|house rule|rule of thumb",
)
_RULE_FILE = re.compile(
    r"(?:^|/)(?:CONTRIBUTING|CONTRIBUTE|CODE[_-]?STYLE|STYLE(?:GUIDE)?|CODING[_-]\w+|CLAUDE|AGENTS|GOVERNANCE|HACKING)"
    r"(?:\.\w+)?$|(?:^|/)\.(?:editorconfig|clang-format|clang-tidy)$",
    re.IGNORECASE,
)
_APPROACH = words(
    r"us(?:e|es|ing) .+ (?:in place of|over)|instead of|rather than|prefer(?:s|red)?",
    r"speed(?:s|ing)? ?up|faster|optimi[sz]\w+|performance|perf",
    r"(?:reduce|save|fewer|less|cut)[sd]? (?:\S+ ){0,2}"
    r"(?:memory|m?alloc(?:ation)?s?|calls?|cop(?:ies|ying)|overhead|time)",
)
_GRAVE = words(
    r"cve-\d{4}-\d+|security|vulnerab\w+|data loss|corrupt\w*|breaking changes?|incompatible",
    r"crash(?:es|ed|ing)?|seg(?:fault|v)|leak\w*|(?:over|under)flow\w*|use[- ]after[- ]free|double[- ]free",
    r"out[- ]of[- ]bounds?|null[- ]pointer|deadlocks?|race(?: condition)?",
)
_SIDE = re.compile(
    r"(?:^|/)(?:docs?|tests?|examples?|\.github|\.circleci|ci)/|(?:^|/)\.[\w-]+\.ya?ml$|\.(?:md|rst|txt|1|3)$",
    re.IGNORECASE,
)

_WEIGHT = {Kind.FAILURE: 5.5, Kind.DECISION: 6.0, Kind.CONVENTION: 5.5, Kind.PATTERN: 5.0, Kind.EVOLUTION: 4.0}


def judge(message: Message, *, author: str = "", merge: bool = False, paths: Sequence[str] = ()) -> Verdict:
    """Return what a commit is to be remembered as, from its message, its author and the paths it touched.

    `confidence` is how sure the kind is; `importance` (1..10) how much a developer loses without it.
    """
    if merge or is_trivial(message, author):
        return Verdict(kind=None)
    taken_back = reverted(message.subject)
    if taken_back:
        kind, confidence = Kind.FAILURE, 0.8
    else:
        kind, confidence = _kind(message, paths)
    return Verdict(
        kind=kind,
        confidence=confidence,
        importance=_importance(kind, message, paths),
        revert=taken_back,
        faulty=bool(_FAULT_TOLD.search(message.body)),
    )


def is_trivial(message: Message, author: str = "") -> bool:
    """Return whether the commit says nothing to remember: unfinished work, version bumps, robots, cosmetics."""
    subject, body = message.subject, message.body
    if not subject or _UNFINISHED.match(subject) or _BOT.search(author):
        return True
    if _DEPENDENCY.match(subject) or _RELEASE.fullmatch(subject):
        return len(body) < _SAID or subject.lower().endswith("synced")
    if len(subject.split()) < 3 and not body:
        return True
    return bool(_COSMETIC.search(subject)) and len(body) < _SAID


def reverted(subject: str) -> str:
    """Return what a subject says was taken back ('Revert "X"' -> 'X'), or "" of any other, a revert of a revert too."""
    match = _REVERT.fullmatch(subject)
    if not match:
        return ""
    quoted = _QUOTED.search(match["what"])
    what = quoted["what"] if quoted else match["what"]
    return "" if _REVERT.fullmatch(what) else what


def _kind(message: Message, paths: Sequence[str]) -> tuple[Kind, float]:
    """Return the kind whose cue is strongest, and how sure it is: what the subject says goes before the body."""
    subject, body = message.subject, message.body
    fixes = any(line.lower().startswith(("fixes", "bug:")) for line in message.trailers)
    if _FAULT.search(subject) and not _ABOUT_TROUBLE.match(subject):
        return Kind.FAILURE, 0.8
    if _CHOICE.search(subject):
        return Kind.DECISION, 0.7
    if _RULE.search(subject) or (paths and all(_RULE_FILE.search(path) for path in paths)):
        return Kind.CONVENTION, 0.6
    if _APPROACH.search(subject):
        return Kind.PATTERN, 0.6
    if fixes or (_FAULT_LIKE.search(subject) and _FAULT_TOLD.search(body)):
        return Kind.FAILURE, 0.65
    if _CHOICE_TOLD.search(body):
        return Kind.DECISION, 0.6
    if _RULE_TOLD.search(body):
        return Kind.CONVENTION, 0.5
    return Kind.EVOLUTION, 0.7


def _importance(kind: Kind, message: Message, paths: Sequence[str]) -> float:
    weight = _WEIGHT[kind]
    if _GRAVE.search(message.subject):
        weight += 2.0
    elif _GRAVE.search(message.body):
        weight += 1.0
    if len(message.body) >= _EXPLAINED:
        weight += 1.0
    elif not message.body:
        weight -= 0.5
    if paths and all(_SIDE.search(path) for path in paths):
        weight -= 1.5
    return min(10.0, max(1.0, weight))
