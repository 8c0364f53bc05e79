"""Single valued: of which of them a subject has one value at a time, told from the words around a value.

On the held-out pairs of developers' sentences (32 contradict, 31 are found): without the verbs that give a value 21 are
found, without `is` 24. Of 18,533 pairs of foreign sentences 55 more would be flagged without the labels of numbers; 9
are judged otherwise without events, 2 without `every`.

Two changed none of these pairs and stay: `a worker has 3 queues` must not end what another worker has, and a timeout
`for uploads` is not the timeout.
"""

from __future__ import annotations

from enum import IntEnum

from helix.text.regex import regex
from helix.text.statement.wording import NARROWING, PLAIN, Exchange, numbers
from helix.text.word_lists import word_list, words


class Hold(IntEnum):
    """How much two values of a relation exclude each other."""

    NOT = 0
    PERHAPS = 1
    SURELY = 2


_LABELS = word_list("text/statement/single_valued", "labels")
_NOT_LABELLED = regex(r"\b(?:needs?|requires?|uses?|using|wants|expects|(?:runs?|upgrades?|pinned) (?:on|to))$")
_DATES = word_list("text/statement/single_valued", "dates")
_TIMES = word_list("text/statement/single_valued", "times")
_UNITS = word_list("text/statement/single_valued", "units")
_MANY = word_list("text/statement/single_valued", "many")
_EXAMPLE = regex(r"\b(?:for (?:example|instance)|e\.g|such as)\b")
# The one of many that is meant.
_THE_ONE = words("minimum maximum least most default oldest latest newest only current")
# `is built for 3.11`: it may be built for others as well.
_FOR = regex(r"\b(?:built|compiled|made|meant|released|packaged) for(?: \w+)?$")
_ROUGHLY = word_list("text/statement/single_valued", "roughly")
_PREDICATE = regex(
    r"\b(?:is|are|was|were|be|has|have|had|(?:tak|expir|serv|expos|rotat|cach|stor|us|requir|writ|updat|compil|mak)(?:es?)|"
    r"(?:need|listen|run|default|set|keep|kept|limit|cost|weigh|hold|wait|retain|start|begin|open|last|bind|"
    r"poll|fire|flush|refresh|split|wrap|indent|sample|meet|pin|target|expect|want|sleep|live|stay|end|stop|read|send|"
    r"allow)s?|retry|retries|times? out|equals?|set|pinned|(?:agreed|decided|settled) on|must|should|shall|can|"
    r"will|may|version)\b"
)
# Something that happened, and may have happened in other numbers as well; not `is pinned` or `the shared cache`.
_EVENT = regex(
    r"(?<!\bis )(?<!\bare )(?<!\bbe )(?<!\bthe )(?<!\ba )\b"
    r"(?:(?!need|speed|feed|seed|exceed|embed|decided|agreed)\w{3,}ed|"
    r"ran|took|met|saw|found|made|went|came|broke|got|did|built|cut|lost|sent|wrote)\b"
)
_ELSEWHERE = words("in on at to")
_KEPT = r"(?:deploy|host|store|keep|kept|save|live|backed up)(?:s|d|ed)?"
_NAMED = regex(
    r"\b(?:called|named|equals?|defaults? to|set to|pinned to|listens? on|written in|(?:is|are|must be) indented with)$"
)
_DONE_WITH = regex(
    rf"\b(?:(?:{_KEPT}|lives?|resides?|is|are) (?:in|on|at|to) (?:the )?(?:host|server|machine|"
    r"cluster|branch|channel|bucket)|"
    rf"{_KEPT} (?:in|on|at|to)|(?:runs?|built|formatted|indented|tested|managed|measured|deployed) (?:with|by)|"
    r"runs? on|go(?:es)? to|(?:owned|maintained|led|managed) by|keep \w+ at|sets? \w+ to|"
    r"(?:lives?|resides?) (?:in|on|at)|"
    r"(?:write|writes|wrote|written|port|ported) (?:the |our )\w+(?: \w+)? (?:in|to))$"
)
_IS = regex(r"\b(?:is|are|was|were|be)(?: the| an?| our)?$")
_EVERY = regex(r"\b(?:every|each|once a)$")
_WHEN = regex(
    r"\b(?:happens?|occurs?|takes? place|meets?|starts?|begins?|ends?|runs?|goe?s? out|ships?|"
    r"(?:is|are)(?: \w+)?|releases?|deploys?) "
    r"(?:on|at|every)$"
)
_HOW_OFTEN = words("hourly daily nightly weekly biweekly fortnightly monthly quarterly yearly annually")
_PURPOSE = words("for as")
_USE = regex(r"\b(?:uses?|using)(?: the| an?)?$")
# Who or what has a part that one alone has: asked about what stands before it.
_ONE_HOLDER = regex(
    r"^(?:owns|maintains|leads|manages|heads|(?:is|are) (?:responsible for|in charge of)|(?:is|are) the \w+ of) "
    r"(?:the|our|all)\b|"
    r"^(?:is|are) (?:the|our) (?:\w+ ){0,2}(?:\w+er|\w+or|lead|default|database|tool|language|framework|library)\b"
)
_INDEFINITE = words("a an one")
_DEFINITE = words("the our my its")
_QUALITY = regex(
    r"(?:ing|ly|ed|able|ible|ful|less|ous|ive|al|ic|ish|ent|ant|ary|[^aeiou]y|en|est)$|"
    r"^(?:slow|fast|down|up|big|small|large|old|new|hard|easy|good|bad|full|empty|pure|red|blue|strict|safe|stable|"
    r"remote|short|long|simple|complex|clean|dead|live|late|early|free|cheap|huge|tiny|thin|weak|strong|loose|tight|"
    r"rare|dense|dark|light|hot|cold|warm|cool|quiet|loud|low|high|wrong|right|fine|ok|okay|done|gone|due|idle|busy|"
    r"stuck|here|there|out|back|over|too|very|so|well|only|also|more|less|better|worse|obsolete|mature|secure|"
    r"complete|separate|unique|sure|great|nice|odd|poor|rich|smart|smooth|rough|sound|solid|great|in|on|at|for|of|to|"
    r"with|from|by|as|like|about|not|still|now|never|always|because|part|one)$"
)
_MOST_WORDS = 3


def of_number(exchange: Exchange, *, framed: bool) -> Hold:
    """Return whether two statements that differ in a number give values of which a subject has one at a time.

    `framed`: the matter is named apart, as a trigger is; then no verb has to say what the number is of.
    """
    before = " ".join(exchange.before)
    around = (*exchange.before, *exchange.after)
    if not exchange.before or _is_listed(exchange) or _is_one_of_many(around):
        return Hold.NOT
    if (_EVENT.search(before) and _THE_ONE.isdisjoint(around)) or _FOR.search(before):
        return Hold.NOT
    if _beside(exchange.left) != _beside(exchange.right) or not _DATES.isdisjoint(around[len(exchange.before) - 1 :]):
        return Hold.NOT
    if not framed and not _PREDICATE.search(before):
        return Hold.NOT
    labelled = exchange.before[-1].rstrip("s") in _LABELS
    if labelled and not _NOT_LABELLED.search(" ".join(exchange.before[:-1])):
        return Hold.NOT
    first = exchange.before[0]
    told = first not in _INDEFINITE and not (_PREDICATE.match(before) and first not in {"set", "keep"})
    rough = not _ROUGHLY.isdisjoint(around)
    sure = framed or (told and not (labelled and " on " in before))
    return Hold.SURELY if sure and not rough else Hold.PERHAPS


def of_value(exchange: Exchange, *, framed: bool) -> Hold:
    """Return whether two statements exchange values, other than numbers, of which a subject has one at a time.

    `framed`: the matter is named apart; then two times that are said of it are (`on monday`), whatever its words.
    """
    left, right = _content(exchange.left), _content(exchange.right)
    around = (*exchange.before, *exchange.after)
    if not left or not right or max(len(left), len(right)) > _MOST_WORDS or _is_one_of_many(around):
        return Hold.NOT
    if not _content(exchange.before):
        return Hold.PERHAPS if _ONE_HOLDER.search(" ".join(exchange.after)) and _are_short(left, right) else Hold.NOT
    before = " ".join(exchange.before)
    if _EVERY.search(before):
        return Hold.PERHAPS if _are_times(left) and _are_times(right) else Hold.NOT
    if (framed or _WHEN.search(before)) and _are_times(left) and _are_times(right):
        return Hold.PERHAPS
    if _HOW_OFTEN.issuperset((*left, *right)):
        return Hold.PERHAPS
    doing = any(word.isalpha() and word.endswith(("ing", "ly")) for word in (*left, *right)) and _THE_ONE.isdisjoint(
        exchange.before
    )
    if doing or _is_listed(exchange):
        return Hold.NOT
    if _NAMED.search(before):
        return Hold.SURELY if not exchange.after and before.split()[0] not in _INDEFINITE else Hold.PERHAPS
    if _DONE_WITH.search(_with_preposition(before, exchange)):
        return Hold.PERHAPS
    if _USE.search(before):
        purpose = exchange.after[:1]
        return Hold.PERHAPS if purpose and purpose[0] in _PURPOSE and _are_short(left, right) else Hold.NOT
    if not _IS.search(before) or exchange.after or not _are_short(left, right):
        return Hold.NOT
    if not framed and exchange.before[0] not in _DEFINITE and len(_content(exchange.before)) < 2:
        return Hold.NOT
    return Hold.PERHAPS


def qualities(exchange: Exchange) -> bool:
    """Return whether one of two statements says how a thing is and not which it is: `the build is slow`."""
    return _THE_ONE.isdisjoint(exchange.before) and any(
        _QUALITY.search(word) for word in (*exchange.left, *exchange.right)
    )


def is_copula(exchange: Exchange) -> bool:
    """Return whether the words that two statements exchange follow a form of `to be`."""
    return bool(_IS.search(" ".join(exchange.before)))


def narrows(exchange: Exchange) -> bool:
    """Return whether a difference of two statements says of which case, place or time one of them speaks."""
    return bool(_content(exchange.left) and _content(exchange.right)) or not NARROWING.isdisjoint(
        (*exchange.left, *exchange.right)
    )


def _is_one_of_many(around: tuple[str, ...]) -> bool:
    return (not _MANY.isdisjoint(around) and _THE_ONE.isdisjoint(around)) or bool(_EXAMPLE.search(" ".join(around)))


def _is_listed(exchange: Exchange) -> bool:
    """Return whether what is exchanged stands in a row with others: one may go, another come."""
    return bool({"and", "or", "nor"} & {*exchange.before[-1:], *exchange.after[:1]})


def _beside(side: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(word for word in side if not numbers(word) and word not in _UNITS and word not in PLAIN)


def _content(side: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(word for word in side if word not in PLAIN and word not in _ELSEWHERE)


def _are_times(side: tuple[str, ...]) -> bool:
    return all(word in _TIMES or word.removesuffix("s") in _TIMES or numbers(word) for word in side)


def _are_short(left: tuple[str, ...], right: tuple[str, ...]) -> bool:
    return max(len(left), len(right)) < _MOST_WORDS


def _with_preposition(before: str, exchange: Exchange) -> str:
    """Return what stands before an exchange, with the preposition that stands in it where each side has one."""
    one, other = exchange.left[0], exchange.right[0]
    return f"{before} {one}" if one in _ELSEWHERE and other in _ELSEWHERE else before
