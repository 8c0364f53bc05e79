"""Exact lookup: what is remembered about exactly one command, error or file, looked up by name and never by likeness.

A memory is found by what it is about (`helix.text.about`) or by the files it touches, through the catalogue's index of
entities and the edges in memory: no text is compared, and nothing but what is found is read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from posixpath import isabs, join, normpath

from helix.agents.context.blocks import BlockEntry, entry, listing, one_line, shown_of
from helix.agents.context.relevant import is_worth_its_room
from helix.command_outcome.command_run import CommandRun
from helix.command_outcome.fixes import FIXED, is_mended_in_files
from helix.model.action import Action
from helix.model.context_answers import ActionContext, Site
from helix.model.edge import Relation
from helix.model.entity import EntityKind
from helix.model.memory import Kind, Memory
from helix.model.provenance import QUOTED, Trust, is_hand_written
from helix.model.recall import RecallQuery
from helix.model.task import ACTION, ON_ERROR
from helix.recall.relevance import term_shares
from helix.recall.scoring import answerable, by_exactness
from helix.store.index import StoreIndex
from helix.store.store import Store
from helix.text.about import ABOUT_KINDS, ERROR, PROMPT, RULED
from helix.text.command_line.command_forms import Level
from helix.text.command_line.command_terms import terms_of
from helix.text.command_line.parser import Command
from helix.text.command_line.rule_commands import (
    CommandRole,
    is_about,
    is_followed,
    keys_of_file,
    keys_of_line,
    named_commands,
    names_file,
    speaks_against,
)
from helix.text.cues import NEED, PITFALL, RULE, cue_pattern
from helix.text.error_lines import keys_of, kind_of, signature_of
from helix.text.inert import quoted
from helix.text.path_patterns import as_path, canonical_path, fits, is_pattern
from helix.text.rare import rare_names
from helix.text.tokens import estimate_tokens, lexical_tokens

MOST = 3
"""How many memories an action is told of."""
MOST_TOKENS = 400
"""Tokens that they take together."""

_LONGEST_LINE = 400
_MOST_FILES = 100
"""Files of one edit that are looked up."""
_LONGEST_NAME = 120
_FEW = 6
"""Passages at most that hold a name which tells what a commit is about: its own and its memory's are two of them."""
_MOST_READ = 200
"""Memories of one class of trust that are read for one action: a history has a file in every commit, and a hook waits
until it is known that none of them is worth reading. Nobody's many keep those of another class from being read."""
_BY_KIND = 2
"""From which level on an error is found by its kind alone: another thing failed in the same way."""
_AT_EDITS = frozenset({Kind.FAILURE, Kind.SYSTEMIC})
_AT_ERRORS = frozenset({Kind.FAILURE, Kind.SYSTEMIC, Kind.PATTERN})
_CANNOT = cue_pattern("cannot|can't|alone|plain|by hand")
_RULES = frozenset({Kind.CONVENTION, Kind.DECISION, Kind.PREFERENCE, Kind.FACT})
"""Kinds of what a person wrote that may stand at a command or file which it names, or shares words with."""
SHARED = 1.4
"""Least weight of the terms that a note shares with a command, where a term of that note alone counts 1: measured in
docs/benchmarks/agents.md."""
_ORDER = (Kind.SYSTEMIC, Kind.FAILURE, Kind.PATTERN, Kind.CONVENTION)


@dataclass(frozen=True, slots=True, kw_only=True)
class _EntityKey:
    """Entities that an action names: their rows, how exactly and in which words, and the kinds of memory wanted.

    `path` is the file that is edited, where rules are looked for by how its name ends.
    """

    rows: list[int]
    relation: Relation
    level: int
    arm: str
    kinds: frozenset[Kind]
    about: str = ""
    what: str = ""
    is_rule: bool = False
    path: str = ""

    @property
    def reason(self) -> str:
        """What an agent's context says of why it is shown; made of the few keys alone that lead to anything."""
        named = quoted(one_line(self.about, _LONGEST_NAME)) if self.about else "what this command does"
        return f"about {self.what}{named}"


_BY_WORDS = _EntityKey(
    rows=[],
    relation=Relation.MENTIONS,
    level=int(Level.GENERAL),
    arm=ACTION,
    kinds=_RULES,
)
"""Of a note of the user's own that shares words with a command."""


def look_up(
    store: Store,
    action: Action,
    scope: str | None,
    limit: int = MOST,
    *,
    by: Collection[str] = (ACTION, ON_ERROR),
    each: bool = False,
) -> tuple[Site, ...]:
    """Look up memories for the context of an agent's action: exactly this command, its error, or the files, best first.

    Systemic failures come first, then what fits more exactly, then what has helped more; but right behind the first of
    several stands the best of the others, which may say how to get on here and now. What the user said goes before
    others' words that fit as exactly, and the best of it is told however many fit better. Only what is active, in the
    scope (or `global`) and not faded is found, and what evidence speaks against only where the user stands for it.
    `by` leaves out the error (ACTION alone) or all but the error. Paths are compared as seen from the project's top. Of
    the memories of one error only the best is found, without `each`.
    """
    index, now = store.index, store.runtime.clock()
    line = action.commands if isinstance(action, CommandRun) and ACTION in by else ()
    found: dict[int, _EntityKey] = {}
    for key, row in _led_to(index, [key for key in _keys(index, action, line, by) if key.rows], scope, now):
        known = found.get(row)
        if known is None or key.level < known.level:
            found[row] = key
    for row in _sharing_words(index, line, scope, now):
        if row not in found or found[row].is_rule:
            found[row] = _BY_WORDS
    if not found:
        return ()
    found.update(_systemic(index, found, scope, now))
    ranked = by_exactness(index, {row: key.level for row, key in found.items()}, _ORDER)
    memories = ((found[row], index.memory(row)) for row in _select_rows(index, ranked, action))
    fit = ((key, one) for key, one in memories if is_worth_its_room(one))
    told = ((key, one) for key, one in fit if _is_worth_reading(index, key, one, action, line))
    sites = (Site(memory=one, reason=key.reason, arm=key.arm, level=key.level) for key, one in told)
    return _with_the_users(sites if each else _once(sites), limit)


def _with_the_users(sites: Iterable[Site], limit: int) -> tuple[Site, ...]:
    """Return the first so many sites, the last of them the best of the user's own where none would be."""
    left = iter(sites)
    first = list(islice(left, limit))
    if first and not any(map(_is_users, first)):
        first[-1:] = [next(filter(_is_users, left), first[-1])]
    return tuple(first)


def _is_users(site: Site) -> bool:
    return site.memory.provenance.trust is Trust.USER_ASSERTED


def _select_rows(index: StoreIndex, ranked: Sequence[int], action: Action) -> list[int]:
    """Return which of the ranked rows are read for an action, in their order: of each class of trust the first few.

    At an edit those come before the others that hold a word of its passage which little else in the store holds.
    """
    touched = set(lexical_tokens(action.passage)) if action.is_edit and len(ranked) > _MOST_READ else ()
    rare = set(touched).difference(index.common(list(touched), at_least=_FEW, share=0.0))
    holding = index.with_any_token(rare)
    room = Counter[int]()
    chosen: set[int] = set()
    for row in sorted(ranked, key=lambda row: row not in holding):  # stable: by rank within both
        trust = index.trust_of(row)
        room[trust] += 1
        if room[trust] <= _MOST_READ:
            chosen.add(row)
    return [row for row in ranked if row in chosen]


def _once(sites: Iterable[Site]) -> Iterator[Site]:
    """Yield of the memories of one error the best, in its first place; by its kind one, where none is of that error.

    The best says what to do: a failure with its fix goes before the warning that it comes again, and both before what
    only repeats that it failed, which is left out. What the user said of it goes before others' words.
    """
    best: dict[str, Site] = {}
    for place, site in enumerate(sites):
        error = _error_of(site.memory)
        if site.memory.kind is Kind.FAILURE and not site.memory.resolution:
            continue
        key = error or str(place)
        known = best.get(key)
        if known is None or _is_users(site) > _is_users(known) or _says_more(site.memory, known.memory):
            best[key] = site
    exact = any(site.arm == ON_ERROR and site.level < _BY_KIND for site in best.values())
    by_kind = 0
    for site in best.values():
        if site.arm == ON_ERROR and site.level >= _BY_KIND:
            by_kind += 1
            if exact or by_kind > 1:
                continue
        yield site


def _error_of(memory: Memory) -> str:
    """Return the error that a memory is about, as it was noted, or as its trigger tells it; empty for none."""
    noted = str(memory.attributes.get(ERROR) or "")
    told = memory.trigger.partition("`: ")[2] or memory.trigger.partition(": ")[2]
    failure = memory.kind in (Kind.FAILURE, Kind.SYSTEMIC)
    return noted or (signature_of(told, failed=True) if failure and told else "")


def _says_more(one: Memory, other: Memory) -> bool:
    if other.provenance.trust is Trust.USER_ASSERTED is not one.provenance.trust:
        return False
    return other.kind is Kind.SYSTEMIC and one.kind is Kind.FAILURE and one.source.endswith(FIXED)


def _is_worth_reading(
    index: StoreIndex, key: _EntityKey, memory: Memory, action: Action, line: Sequence[Command]
) -> bool:
    """Return whether it says something here: what a person wrote not to who does what it asks for already.

    What was mended by changing files says something where its error comes again, not before each run. What only a
    commit says of a file says something at an edit that touches a name of code which it speaks of, and little else in
    the store: most of what was ever mended in a file has nothing to do with the passage at hand, and `NULL` stands in
    every one. What a repository's notes say of a command says something where they speak against it: a manual names
    commands on every page.
    """
    if action.is_edit and memory.said_by == "commit":
        touched = set(lexical_tokens(action.passage))
        names = [name for name in rare_names(f"{memory.trigger}\n{memory.resolution}") if name in touched]
        return len(names) > len(index.common(names, at_least=_FEW, share=0.0))
    if key.arm == ACTION and line and is_mended_in_files(memory):
        return False
    if not is_hand_written(memory.provenance):
        return not key.is_rule
    said = f"{memory.trigger}\n{memory.resolution}"
    named = named_commands(said)
    if not key.is_rule:
        return not is_followed(named, line)
    theirs = memory.said_by in QUOTED
    if key.path and not names_file(said, key.path, keys_of_file(key.path)):
        return False
    if action.is_edit:
        return not theirs or _tells_what_to_do(said)
    if theirs:
        return speaks_against(named, line)
    return is_about(said, line)


def _tells_what_to_do(said: str) -> bool:
    return any(cue.search(said) for cue in (RULE, PITFALL, NEED, _CANNOT)) or any(
        one.role is not CommandRole.SPOKEN for one in named_commands(said)
    )


def action_context(sites: Sequence[Site], *, budget_tokens: int = MOST_TOKENS) -> ActionContext:
    """Return the looked-up memories as the context of an agent's action, whole lines only, and those that it shows."""
    kept = _within(sites, budget_tokens)
    reasons = " and ".join(dict.fromkeys(site.reason for site, _ in kept))
    text = listing(f"Helix remembers {reasons}", (f"{_kind(site)}{line.line}" for site, line in kept)).rstrip()
    return ActionContext(sites=tuple(sites), text=text, shown=shown_of([line for _, line in kept]))


def _kind(site: Site) -> str:
    return "WARNING, it keeps happening: " if site.memory.kind is Kind.SYSTEMIC else ""


def _within(sites: Sequence[Site], budget_tokens: int) -> list[tuple[Site, BlockEntry]]:
    """Return the sites whose lines fit, in their order; what was said here comes in first, one in any case."""
    lines = [entry(site.memory, score=1.0 / (1 + site.level), arm=site.arm, limit=_LONGEST_LINE) for site in sites]
    kept, spent = set[int](), 0
    for at in sorted(range(len(sites)), key=lambda at: sites[at].memory.said_by in QUOTED):
        tokens = estimate_tokens(lines[at].line)
        if not kept or spent + tokens <= budget_tokens:
            kept.add(at)
            spent += tokens
    return [(sites[at], lines[at]) for at in sorted(kept)]


def _keys(index: StoreIndex, action: Action, line: Sequence[Command], by: Collection[str]) -> Iterator[_EntityKey]:
    if isinstance(action, CommandRun) and ACTION in by:
        for form in action.forms:
            yield _EntityKey(
                rows=index.entities(EntityKind.COMMAND, PROMPT + form.text),
                relation=Relation.MENTIONS,
                level=int(form.level),
                about=form.text,
                arm=ACTION,
                kinds=ABOUT_KINDS,
            )
        yield from (_rule(index, name) for name in keys_of_line(line))
    if isinstance(action, CommandRun) and ON_ERROR in by and (action.has_failed or action.passed is None):
        error = action.error if action.has_failed else signature_of(action.output)
        for level, name in (*enumerate(keys_of(error)), (_BY_KIND, kind_of(error))):
            yield _EntityKey(
                rows=index.entities(EntityKind.ERROR, name) if name else [],
                relation=Relation.MENTIONS,
                level=level,
                about=name,
                what="the error ",
                arm=ON_ERROR,
                kinds=_AT_ERRORS,
            )
    if action.is_edit:
        for path in islice(dict.fromkeys(action.files), _MOST_FILES):
            names = _names(path, action.folder, action.root or action.folder)
            yield _EntityKey(
                rows=[row for row, name in index.files_like(path) if _is_file(name, names)],
                relation=Relation.TOUCHES,
                level=0,
                about=names[0],
                arm=ACTION,
                kinds=_AT_EDITS,
            )
            keys = dict.fromkeys((*names, *keys_of_file(names[0])))
            yield from (_rule(index, name, names[0] if "*" in name else "") for name in keys)


def _sharing_words(index: StoreIndex, line: Sequence[Command], scope: str | None, now: datetime) -> Iterator[int]:
    """Yield for each command of the line the user's own note that shares most with it, where that is enough."""
    parts = terms_of(line)
    own = index.of_trust(Trust.USER_ASSERTED)
    if not (parts and own):
        return
    notes = answerable(index, own, _asked(_RULES, scope), now)
    for terms in parts:
        shared = term_shares(index, notes, terms)
        best = max(shared, key=lambda row: (shared[row], -row), default=None)
        if best is not None and shared[best] >= SHARED:
            yield best


def _rule(index: StoreIndex, name: str, path: str = "") -> _EntityKey:
    return _EntityKey(
        rows=index.entities(EntityKind.COMMAND, RULED + name),
        relation=Relation.MENTIONS,
        level=int(Level.GENERAL),
        about=path or name,
        arm=ACTION,
        kinds=_RULES,
        is_rule=True,
        path=path,
    )


def _names(path: str, folder: str, root: str) -> tuple[str, ...]:
    """Return the names of a file: its path from the root and its whole path, else the path as given."""
    plain = canonical_path(path)
    whole = normpath(join(canonical_path(folder), plain)) if folder else plain
    top = canonical_path(root)
    if top and whole.startswith(f"{top}/"):
        return (whole[len(top) + 1 :], whole)
    return (plain, whole) if whole != plain else (plain,)


def _is_file(known: str, names: tuple[str, ...]) -> bool:
    """Return whether a file or pattern is one of the names, or the end of one that is not known from its root."""
    known = known.casefold()
    asked = [name.casefold() for name in names]
    loose = isabs(asked[0]) or ":" in asked[0][:3]
    if is_pattern(known):
        return any(fits(known, name) for name in asked) or (loose and fits(f"*/{known}", asked[0]))
    known = as_path(known)
    return known in asked or (loose and "/" in known and asked[0].endswith(f"/{known}"))


def _led_to(
    index: StoreIndex, keys: Sequence[_EntityKey], scope: str | None, now: datetime
) -> list[tuple[_EntityKey, int]]:
    """Return each key, in order, with each row of a memory that it leads to and that may be shown."""
    held = {
        relation: iter(
            index.supported_by([row for key in keys if key.relation is relation for row in key.rows], relation)
        )
        for relation in {key.relation for key in keys}
    }
    led = [(key, row) for key in keys for owners in islice(held[key.relation], len(key.rows)) for row in owners]
    fit = {
        kinds: _answerable(index, (row for key, row in led if key.kinds == kinds), kinds, scope, now)
        for kinds in {key.kinds for key, _ in led}
    }
    return [(key, row) for key, row in led if row in fit[key.kinds]]


def _answerable(
    index: StoreIndex, rows: Iterable[int], kinds: frozenset[Kind], scope: str | None, now: datetime
) -> set[int]:
    return set(answerable(index, rows, _asked(kinds, scope), now).tolist())


def _asked(kinds: frozenset[Kind], scope: str | None) -> RecallQuery:
    return RecallQuery(query="", scope=scope, kinds=tuple(kind for kind in Kind if kind in kinds))


def _systemic(
    index: StoreIndex, found: dict[int, _EntityKey], scope: str | None, now: datetime
) -> dict[int, _EntityKey]:
    """Return the systemic failures that what is found causes, each as exact as the most exact of its causes."""
    rows = sorted(found)
    caused = index.supports_of(rows, Relation.CAUSES)
    if not any(caused):
        return {}
    fit = _answerable(index, (row for held in caused for row in held), frozenset({Kind.SYSTEMIC}), scope, now)
    best: dict[int, _EntityKey] = {}
    for cause, systemic in ((row, one) for row, held in zip(rows, caused, strict=True) for one in held):
        key, known = found[cause], found.get(systemic) or best.get(systemic)
        if systemic in fit and (known is None or key.level < known.level):
            best[systemic] = key
    return best
