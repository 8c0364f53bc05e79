"""Relevant: what a recall found that is worth an agent's attention, and nothing to fill up with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from helix.agents.context.blocks import BlockEntry, entry
from helix.agents.context.notes import Written, no_notes
from helix.model.edge import Label
from helix.model.memory import Kind, Memory, room_of, spoken_against
from helix.model.provenance import QUOTED, Trust
from helix.model.recall import Intent, RecallAnswer, RecallItem, RecallQuery
from helix.model.task import RECALL
from helix.recall.recipes import Default
from helix.recall.scoring import SPOKEN_AGAINST

Recall = Callable[[RecallQuery], RecallAnswer]

LIMIT = 5
"""How many memories a context holds where nobody says."""
FLOOR = 0.25
"""Relevance by meaning and words, 0 to 1, below which a memory is excluded.

Measured with bge-small. Twelve short memories of a project: of ten tasks that one of them is about, eight get it, with
two others in all; three questions about something else get none. Some 600 commits as memories: 86 % of the commits that
a question is about stay of those among the first ten; of 80 questions about other code 0.7 memories a question stay, of
80 scientific claims 0.01, of 80 questions about people none. At 0.3 those are four of ten, 79 %, 0.14, 0 and 0.
"""
BY_WORDS = 0.6
"""Share of the floor that counts where there are no vectors: fit is lower by words alone, and seldom by chance."""
STRICT = 2.0
"""How many times the floor has to be met by what nobody here stands for (a commit, a repository's notes, a tool, the
web), and by what was left out as a person's note."""
PATIENCE = 20
"""In so many tasks that passed a memory may take room in vain, and in as many again for each time it helped."""
_ONE_HELP = 0.5

_DEFAULT = Default()
_WEIGHTS = {f"+{name}": getattr(_DEFAULT, name) for name in ("meaning", "words", "files", "time", "solves", "graph")}
_LONGEST_QUESTION = 2_000
_MOST_FILES = 20
_OF_FILE = 0.6
"""Share of one file from which a memory is about it: it touches it, other than only mentions it."""


@dataclass(frozen=True, slots=True)
class Sources:
    """What a context is made from: a recall, what a person wrote, and how well a recalled memory has to fit."""

    recall: Recall
    written: Written = no_notes
    floor: float = FLOOR


def relevant(
    sources: Sources,
    question: str,
    *,
    scope: str | None,
    kinds: Sequence[Kind],
    limit: int,
    intent: Intent | None = None,
    files: Sequence[str] = (),
) -> tuple[BlockEntry, ...]:
    """Return at most `limit` memories for an agent's context that fit the question or touch a file, best first.

    What a person wrote comes first, of whatever kind; then, of the kinds, what was derived. One recall answers for
    question and files. What evidence speaks against is excluded, as is what fits less than the floor; what nobody here
    stands for has to fit better than that.
    """
    asked = question.strip()[:_LONGEST_QUESTION] or " ".join(files)[:_LONGEST_QUESTION]
    if limit < 1 or not asked:
        return ()
    query = RecallQuery(
        query=asked,
        scope=scope,
        kinds=tuple(kinds),
        labels=(Label.MEMORY,),
        limit=2 * limit,
        intent=intent,
        files=tuple(dict.fromkeys(files))[:_MOST_FILES],
        recipe=_DEFAULT.name,
    )
    answer = sources.recall(query)
    least = sources.floor if answer.mode == "hybrid" else BY_WORDS * sources.floor
    notes = sources.written(asked, scope)
    own = [] if notes is None else [note for note in notes if is_worth_its_room(note.memory)]
    derived = [
        entry(item.node, score=item.score, arm=RECALL, question=asked)
        for item in answer.items
        if isinstance(item.node, Memory)
        and is_worth_its_room(item.node)
        and (fit(item) >= least * _strictness(item.node, judged=notes is not None) or _touches(item, len(query.files)))
    ]
    known = {note.memory.id for note in own}
    derived = [one for one in derived if one.memory.id not in known]
    first = [entry(note.memory, score=1.0 + note.fit, arm=RECALL, question=asked) for note in own]
    return (*first[: limit - bool(derived)], *derived)[:limit]


def _strictness(memory: Memory, *, judged: bool) -> float:
    """Return how many times the floor a memory has to fit that a recall found."""
    if judged and memory.provenance.trust is Trust.USER_ASSERTED:
        return STRICT  # it was looked at among what a person wrote, and left out
    return STRICT if memory.said_by in QUOTED else 1.0


def is_worth_its_room(memory: Memory) -> bool:
    """Return whether a memory is worth its room in an agent's context: useful, and no outcomes against it.

    Outcomes never silence what the user stands for: whoever writes a repository writes its checks. What was charged for
    room says only how often a memory was shown for nothing; it takes PATIENCE of that.
    """
    against = spoken_against(memory)
    in_vain, _ = room_of(memory)
    spoken_for = (memory.helped + 0.5) / (memory.helped + against + 1.0) >= SPOKEN_AGAINST
    heard = spoken_for or memory.provenance.trust is Trust.USER_ASSERTED
    return heard and in_vain < PATIENCE * (1 + memory.helped / _ONE_HELP)


def fit(item: RecallItem) -> float:
    """Return how well a recall item fits an agent's context by meaning and words alone, 0 to 1.

    The recipe shares its weights out over the terms that an answer has at all; this takes that back.
    """
    present = {name: float(weight) for name, weight in _WEIGHTS.items() if name in item.factors}
    # Without a word in common the words count nothing; without vectors they are all there is.
    own = ("+meaning", "+words") if "+meaning" in present else ("+words",)
    said = sum(item.factors.get(name, 0.0) for name in own)
    return said * sum(present.values()) / sum(float(_WEIGHTS[name]) for name in own)


def _touches(item: RecallItem, files: int) -> bool:
    return any(hit.arm == "files" and hit.score * files >= _OF_FILE for hit in item.arms)
