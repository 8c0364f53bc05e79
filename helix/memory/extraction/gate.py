"""Gate: says without a model whether a sentence holds something durable, what kind of thing, and how sure that is.

Of 506 turns of chats (LoCoMo, LongMemEval) that answer a question it keeps 35, of 3,097 others 71: without the cues
of preferences 27 and 62, without those of decisions 32 and 70. The other eight that were left out changed none there:
they are for what people tell an agent.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from helix.model.entity import EntityKind, Mention
from helix.model.episode import Episode
from helix.model.memory import Kind
from helix.model.provenance import Trust
from helix.text.cues import CORRECTION, IMPERATIVE, NEED, REPAIR, RULE, STEP, TROUBLE, cue_pattern
from helix.text.discourse_markers import without_openers
from helix.text.regex import regex
from helix.text.sentences import Sentence, sentences
from helix.text.spotting.entities import mentions

CUT_OFF = 0.4
"""Worth (0..1) below which a sentence stays part of its episode only; the setting `gate_threshold`."""
_LEAST_WORDS, _MOST_WORDS, _LEAST_TERMS = 4, 60, 3
_LEAST_LETTERS = 0.6
_UNMARKED, _TOLD_BY_NAMES, _HEDGE, _CALL = 0.3, 0.15, 0.3, 0.3
_SPOKEN = frozenset({"", "user", "store"})
"""Roles whose word about themselves and the project is their own; `assistant` and `tool` say what they were told."""

_WRAPPED = regex(r"(?<=[^\s.!?:;]{2})(?<!\n)[ \t]*\n(?![ \t]*(?:\n|[-*+>#|]|\d{1,3}[.)]|```| {4}|\t))(?<=[^\n]{40}\n)")
_OPENING = (
    r"(?:(?:and|but|so|also|ok(?:ay)?|btw|by the way|oh|well|yes|yeah|no|please|then|just|again|seriously|honestly"
    r"|really|listen|look|hey|guys|folks|everyone|all|team)[,!. ]+)*"
)
_REMEMBER = regex(
    rf"{_OPENING}(?:remember(?: to|, (?:always|never)|:| that(?! (?:time|day|one|you|we|i|no|even|some\w*)\b))"
    r"|(?:don't|do not|never) forget (?:to|that)|keep in mind|note to self|for (?:future )?reference"
    r"|reminder(?: to (?:self|myself))?:|important:"
    r"|take note"
    r"|n'oublie(?:z)? pas|(?:rappelle-toi|souviens-toi|retiens|retenez)\b|(?:à|a) retenir ?:"
    r"|merk(?:e|t)? (?:dir|euch)\b|denk(?:e|t)? (?:daran|dran)|vergiss nicht|nicht vergessen|wichtig:"
    r"|recuerda(?: que)?\b|no (?:te )?olvides|no olvidar|ricorda(?:ti)?\b|non dimenticare|lembre-se"
    r"|n(?:ã|a)o esque(?:ç|c)a)",
    re.IGNORECASE,
)
_LASTING = cue_pattern(
    r"from now on|going forward|as a rule|house rule|rule of thumb|(?:our|the|team) (?:policy|convention"
    r"|standard) (?:is|says)",
    r"by convention|it is our (?:policy|convention)",
)
_DECIDED = cue_pattern(
    r"(?:we|i)(?:'ve| have| had)? (?:now |finally |both |all |since |already )?(?:decided (?:to|on|against|that|not)"
    r"|(?:chose|chosen) (?:to|not)|opted (?:for|to)|settled on|agreed (?:to|on|that))",
    r"(?:it was|was|were|been|the team|they) decided (?:to|on|against|that)|(?<![a-z] )decision:"
    r"|the decision (?:was|is)",
    r"we(?:'re| are) (?:switching|moving|migrating) (?:to|from)|we (?:went with|switched (?:to|from))",
    r"(?:the team|we|i)(?:'ve| have)? (?:chose|chosen|picked) [\w./+#-]+(?: [\w./+#-]+)? over",
    r"we(?:'ve| have)? (?:now |just |finally )?(?:replaced|retired|abandoned|scrapped|migrated|swapped|got rid of"
    r"|stopped using)",
    r"we(?:'ve| have)? (?:now |just |finally )?moved [^,.;]+? from",
)
_NO_MORE = cue_pattern(
    r"no longer|(?:don't|do not|doesn't|does not|isn't|is not|aren't|are not|won't)\b.{1,80}? any ?(?:more|longer)"
)
_FIRMLY = regex(
    rf"{_OPENING}(?:correction|korrektur|berichtigung|correcci(?:ó|o)n|correzione|corre(?:ç|c)(?:ã|a)o|wrong"
    r"|scratch that|i (?:was|misspoke|have|need)|my (?:mistake|error)|contrary to"
    r"|what i)\b",
    re.IGNORECASE,
)
_DAY = r"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|yesterday|today|tomorrow|(?:this|last|next) \w+)"
_ANEW = cue_pattern(
    r"(?<=\w )(?<!right )(?<!by )(?<!for )(?<!until )(?<!till )(?<!just )(?<!can )now(?=[,.;!]|$| because\b| since\b)"
    r"|(?:is|are) now (?:at |on |in )?\S*\d\S*",
    rf"(?:since|from|as of|starting) {_DAY}",
    r"(?<=\w )(?:moved|switched|changed|raised|lowered|increased|reduced|extended|shortened|renamed|migrated|bumped)"
    r"(?: from [^,;]{1,40}?)? to",
)
"""Something is so since lately, and was otherwise before."""
_LEAVE = cue_pattern(
    r"(?:is|are) (?:fine|ok(?:ay)?|allowed|permitted|forbidden|banned|mandatory|required|optional|obsolete)"
    r"(?: again)? now|(?:is|are) now (?:fine|ok(?:ay)?|allowed|permitted|forbidden|banned|mandatory|required|optional"
    r"|obsolete)"
)
_PASSING = cue_pattern(
    r"(?:is|are|looks?|works?|runs?|running|been) (?:\w+ )?(?:green|red|fixed|done|finished|merged|ready|running"
    r"|working|fine|ok(?:ay)?|up|down|back|broken|passing|failing|complete|available|live|good|better|gone"
    r"|in progress)"
)
"""How a thing goes at the moment, which the next hour may change."""
_WAS = cue_pattern(r"was|were|had|did|got|went")
_SIGNS = 2
"""Of three signs of a change, a correction's opening words, a word of time and something precise: how many make one."""
_OWN = rf"{_OPENING}(?:[\w'-]+,? ){{0,2}}?"
_OBJECT = r"(?! (?:it|this|that|these|those|them|you|him|her|how|when|what|to say|to admit)\b)"
_PREFERS = regex(
    rf"{_OWN}(?:i(?:'d| would)? (?:really |strongly |usually |generally |much |always |definitely )?"
    rf"(?:prefer|rather (?!than|not)|dislike|hate|detest|can't stand|avoid)\b{_OBJECT}"
    r"|my (?:all-time |absolute |personal )?(?:favou?rite|preferred|go-to)\b.{1,60}? (?:is|are|has been|would be) "
    rf"|i(?:'m| am) (?:more of an?|not a fan of|a (?:big |huge )?fan of|passionate about|obsessed with)\b{_OBJECT}"
    r"|i (?:don't|do not) (?:like|eat|drink|use|want you to) (?!it|this|that|how)\w"
    r"|i (?:really |absolutely |just |still )?(?:love|like|enjoy) (?!seeing|hearing|being able|talking)\w+ing\b"
    r"|i (?:always|never|usually) (?:use|eat|drink|take|wear|buy|cook|write|read|run|go|start|work|listen|watch"
    r"|keep|put)\b)",
    re.IGNORECASE,
)
_KIN = (
    r"wife|husband|partner|girlfriend|boyfriend|son|daughter|kids?|children|mom|mum|mother|dad|father|brother|sister"
    r"|grandma|grandmother|grandpa|dog|cat|puppy|kitten|pet|boss|manager|team|company|birthday|name"
)
_IDENTITY = regex(
    rf"{_OWN}(?:my (?:{_KIN})(?:'s name)? (?:is|are|works|lives|has|likes|loves) (?!(?:so|really|very|just|going|doing"
    r"|getting|all|amazing|great|my) )"
    r"|i(?:'m| am) (?:currently )?(?:an? (?!bit|little|lot|huge|big|fan|mess|wreck|believer|total)\w+(?:ist|er"
    r"|or|ian|ant|eer)\b"
    r"|allergic|vegetarian|vegan|married|single|divorced|lactose|diabetic|retired|originally from|based in"
    r"|learning|studying"
    r"|training for|working (?:as|at) )"
    r"|i (?:live|work|study|studied|grew up|was born|graduated|moved|teach|majored|volunteer) (?:in|at|for|as"
    r"|from|to|near) "
    r"|i(?:'ve| have) (?:been|had|owned|played|worked|lived|practi[sc]ed) .{1,80}\b(?:for (?:over |about "
    r"|almost |nearly )?"
    r"(?:an? |\d+|two|three|four|five|six|seven|ten|many|several) ?\w* ?(?:years?|months?|decades?)\b"
    r"|since (?:\d|i was|college))"
    r"|i have (?:an?|two|three|four|\d+) (?:\w+ )?(?:dogs?|cats?|kids?|children|sons?|daughters?|brothers?"
    r"|sisters?|pets?)\b)",
    re.IGNORECASE,
)
_CHANGED = regex(
    rf"{_OWN}(?:i|we)(?:'ve| have)? (?:just |recently |finally |also |even |actually )*"
    r"(?:(?:started|joined|launched|opened|adopted|bought|moved|quit|signed up|enrolled|switched|founded|published)\b"
    r"|got (?:an? (?:new|job|puppy|dog|cat|kitten|promotion)|married|engaged|hired|promoted|accepted|divorced))"
    r"(?! (?:it|this|that|them|to (?:feel|see|think|notice|realize|get)|seeing|feeling|thinking|noticing"
    r"|getting|over)\b)",
    re.IGNORECASE,
)
_RULED = regex(
    rf"^{_OPENING}(?:(?:always|never) (?!(?:here|there|had|saw|been|thought|knew|ceases?|a|so|the|mind|gets?)\b)\w+"
    r"|(?:do not|don't) (?!(?:worry|forget|be|you|know|think|get|mind|give|let|stop|feel|miss|even|have|want"
    r"|hesitate|see)\b)\w+"
    r"|(?:make sure|be sure) (?:to|you|that)|avoid \w+ing)"
    r"|\bwe (?:always|never|only) (?!(?:know|knew|have|had|get|got|see|talk|forget|want|wanted|think|say|did)\b)\w+"
    r"|\b(?:must(?: not|n't)?|has to|needs? to) be (?!(?:so|very|proud|fun|great|hard|nice|tough|amazing|feeling)\b)"
    r"\w+ed\b"
    r"|\bmust (?:not|never|always) (?!(?:be|have)\b)\w+",
    re.IGNORECASE,
)
_HEADLINE = regex(r"[\w./+*-]+(?:\([\w, ]+\))?(?:[,/] ?[\w.-]+)*: ")
_OF_ONESELF = cue_pattern(r"i|i'm|i've|i'll|i'd|me|my|let's|you're|you've")
_STATES = cue_pattern(
    r"is|are|lives?|uses?|runs? (?:on|in|with)|needs?|has|have|contains?|depends? on|belongs? to|listens? on|requires?",
    r"comes? from|stands? for|means|expects?|returns?|stored|kept|called|found in|set (?:to|in|by)",
)
_LEAD = regex(r"^(?:before|after|when(?:ever)?|if|once|first|to)\b[^,]{1,60}, ", re.IGNORECASE)
_HEDGED = cue_pattern(
    r"maybe|perhaps|might|could|wonder(?:ing)?|hopefully|i (?:hope|guess|think|feel like|wish|bet)|probably|not sure",
    r"would(?: have)?|if i|if you|if we|let me know|i'll|let's|you (?:can|could|should|may|might)|imagine|seems?",
)
_OCCASION = cue_pattern(r"before|after|when(?:ever)?|if|once|first|every|each|prior to|as soon as|until|unless")
_HABIT = regex(r"we (?:\w+ly )?(?!are|were|had|have|will|can|could|should|would|did|do|got|saw|went|was)[a-z]+\b", re.I)
_ADRIFT = regex(
    rf"{_OPENING}(?:it|its|this|that|that's|it's|these|those|they|they're|he|she|his|her|their|there|which|who"
    rf"|what|such)\b",
    re.IGNORECASE,
)
TECHNICAL = frozenset(EntityKind) - {EntityKind.CONCEPT, EntityKind.URL, EntityKind.PERSON}
"""Kinds of entity that only work on programs speaks of."""
_ADVICE = (None, Kind.CONVENTION, Kind.FACT)
_CODE = frozenset({EntityKind.FILE, EntityKind.ERROR, EntityKind.COMMAND, EntityKind.PACKAGE, EntityKind.TEST})


@dataclass(frozen=True, slots=True, kw_only=True)
class SentenceMark:
    """What a sentence is taken for. `worth` (0..1) is how likely it is to matter later; `sure` (0..1) that it is so.

    `marked`: it has a cue; without one only hearing it again and again makes it matter. `explicit`: it was said in so
    many words by somebody whose own matter it is, so that hearing it once is enough.
    """

    kind: Kind
    worth: float
    sure: float
    marked: bool
    explicit: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Passed:
    """A sentence that passed the gate, its place in the episode, what it is taken for and what it mentions."""

    place: int
    sentence: Sentence
    mark: SentenceMark
    mentions: tuple[Mention, ...]


def gate(episode: Episode, cut_off: float = CUT_OFF) -> tuple[list[Sentence], list[Passed]]:
    """Return an episode's sentences, in order, and those of them that hold something durable to extract.

    What an episode held back is not lost: it is the episode's, which stays. Novelty is no reason to hold back here: a
    thing said again strengthens what is known of it.
    """
    said = sentences(_lines_joined(episode.content))
    passed: list[Passed] = []
    for place, sentence in enumerate(said):
        if not _may_tell(sentence):
            continue
        found = mentions(sentence.text)
        mark = judge(sentence.text, found, episode)
        if mark is not None and mark.worth >= cut_off and not sentence.is_filler:
            passed.append(Passed(place=place, sentence=sentence, mark=mark, mentions=found))
    return said, passed


def judge(text: str, found: Sequence[Mention], episode: Episode) -> SentenceMark | None:
    """Return the kind of memory that a sentence of an episode gives; None for nothing.

    What a tool or the web says is never explicit: text that is nobody's own may ask to be remembered too.
    """
    own_word, prompted = is_own_word(episode), episode.role == "user"
    named = {mention.kind for mention in found}
    kind, sure, explicit = _cue(text, technical=bool(named & TECHNICAL), own_word=own_word, prompted=prompted)
    if kind is None and EntityKind.ERROR in named and not _describes(text):
        kind, sure, explicit = Kind.FAILURE, 0.5, False
    bare = without_openers(text)
    if _ADRIFT.match(bare) and not _REMEMBER.match(text):
        return None  # what it points to stands in another sentence
    talk = not own_word or (bool(episode.agent) and episode.role == "")
    if talk and not named & TECHNICAL and kind in _ADVICE:
        return None  # one encourages or advises another: what they say of themselves is told by its cues
    hedge = _HEDGE if _HEDGED.search(text) else 0.0
    if kind is None:
        return _unmarked(bare, named, hedge, bidden=bare != text)
    if kind is Kind.FAILURE and not explicit and _HEADLINE.match(text):
        return None
    worth = sure - hedge - (_CALL if text.endswith("!") else 0.0)
    explicit = explicit and may_settle(episode)
    return SentenceMark(kind=kind, worth=worth, sure=max(0.0, worth), marked=True, explicit=explicit)


def is_own_word(episode: Episode) -> bool:
    """Return whether an episode's speaker speaks for themselves and the project, and not from hearsay."""
    return episode.role in _SPOKEN


def may_settle(episode: Episode) -> bool:
    """Return whether an episode saying it once can be enough: it is somebody's own word, no tool's or page's."""
    return episode.provenance.trust.rank <= Trust.AGENT_INFERRED.rank and episode.role not in ("tool", "system")


def _cue(text: str, *, technical: bool, own_word: bool, prompted: bool) -> tuple[Kind | None, float, bool]:
    """Return kind, how sure it is and whether it was said explicitly, by the strongest cue of the sentence."""
    if (asked := _REMEMBER.match(text)) is not None:
        rule = asked[0].endswith(" to") or RULE.search(text) or IMPERATIVE.search(text)
        kind = Kind.CONVENTION if rule else Kind.FACT
        return kind, 0.85, own_word
    if technical and TROUBLE.search(text):
        repaired = REPAIR.search(text) is not None
        return Kind.FAILURE, 0.7 if repaired else 0.5, repaired
    if _LASTING.search(text):
        return Kind.CONVENTION, 0.8, own_word
    if _DECIDED.search(text):
        return Kind.DECISION, 0.75, True
    if own_word and _takes_back(text, technical=technical, prompted=prompted):
        return (Kind.CONVENTION if RULE.search(text) or _LEAVE.search(text) else Kind.FACT), 0.7, True
    if own_word and _PREFERS.match(text):
        return Kind.PREFERENCE, 0.7, True
    if own_word and _IDENTITY.match(text):
        return Kind.IDENTITY, 0.7, True
    if own_word and _CHANGED.match(text):
        return Kind.EVOLUTION, 0.65, True
    if _RULED.search(text):
        return Kind.CONVENTION, 0.65, own_word
    return None, 0.0, False


def _describes(text: str) -> bool:
    """Return whether a sentence with an error tells its cause or what to do about it, not only that it came up."""
    return any(cue.search(text) for cue in (_STATES, RULE, NEED)) or IMPERATIVE.match(text) is not None


def _takes_back(text: str, *, technical: bool, prompted: bool) -> bool:
    """Return whether a sentence takes back what was said, or says that something is no longer so, and what is so.

    "Actually" and its like also begin small talk, and much is so "now" for an hour: there a number or something
    technical has to follow, or both come together. What a history says of its changes is news where a person says it.
    """
    lead = CORRECTION.match(text)
    bare = text[lead.end() :] if lead is not None else text
    if _ADRIFT.match(bare) or _OF_ONESELF.search(bare):
        return False
    if _NO_MORE.search(bare) or (lead is not None and _FIRMLY.match(text) is not None):
        return True
    if prompted and _LEAVE.search(bare):
        return True
    if _PASSING.search(bare) or _WAS.search(bare):
        return False
    anew = prompted and _ANEW.search(bare) is not None
    precise = technical or any(char.isdigit() for char in bare)
    return sum((lead is not None, anew, precise)) >= _SIGNS


def _unmarked(text: str, named: set[EntityKind], hedge: float, *, bidden: bool) -> SentenceMark | None:
    """Return what a statement without a cue may turn out to be when it is heard again and again.

    `bidden`: an opener stood before it, such as "please".
    """
    if _HEADLINE.match(text):
        return None
    needed = NEED.search(text) is not None
    told = IMPERATIVE.match(_LEAD.sub("", text)) is not None or RULE.search(text) is not None or _bids(text, bidden)
    if not (needed or ((told or _STATES.search(text)) and not _OF_ONESELF.search(text))):
        return None
    rule = needed or told
    precise = named & _CODE or any(char.isdigit() for char in text)
    worth = _UNMARKED + (_TOLD_BY_NAMES if precise else 0.0) + (_TOLD_BY_NAMES if rule else 0.0) - hedge
    return SentenceMark(
        kind=Kind.CONVENTION if rule else Kind.FACT, worth=worth, sure=0.5, marked=False, explicit=False
    )


def _bids(text: str, bidden: bool) -> bool:
    """Return whether a statement says what is to be done, or is always done: behind an opener, or on some occasion."""
    if not bidden and _OCCASION.search(text) is None:
        return False
    return any(cue.match(_LEAD.sub("", text)) for cue in (IMPERATIVE, STEP, _HABIT))


def _may_tell(sentence: Sentence) -> bool:
    """Return whether it is no question, fragment or dump of something; the cheap part of the gate."""
    text = sentence.text
    if sentence.asks or not _LEAST_WORDS <= len(text.split()) <= _MOST_WORDS:
        return False
    letters = sum(char.isalpha() or char.isspace() for char in text)
    return letters >= _LEAST_LETTERS * len(text) and len(sentence.terms) >= _LEAST_TERMS


def _lines_joined(text: str) -> str:
    """Return the text with lines joined that were broken to fit a width, as those of commit messages are."""
    return _WRAPPED.sub(" ", text)
