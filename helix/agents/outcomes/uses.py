"""Uses: whether what was done in a task shows that a memory was used there."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath

from helix.command_outcome.exit_status import parse, words_of
from helix.model.entity import EntityKind, Mention
from helix.text.command_line.command_forms import forms
from helix.text.command_line.launchers import bare_command
from helix.text.cues import cue_pattern
from helix.text.path_patterns import canonical_path
from helix.text.spotting.entities import mentions
from helix.text.tokens import lexical_tokens, query_terms

_LEAST_WORDS, _LEAST_SHARE = 2, 0.25
_SHOWN_WORDS = 4
_LEAST_OF_COMMAND = 2
_SENTENCE_END = re.compile(r"[.;!?]\s|\n")
_FORBIDS = cue_pattern(r"never|not|don't|avoid|without|instead of|rather than|no longer|forbidden")


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """What a memory has to say: when (`trigger`), and what to do then; `files` are those it is about."""

    trigger: str
    resolution: str
    files: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Deeds:
    """What was done in a task, or in a part of it: files edited, commands run, and what was written.

    It is taken apart once for however many memories it is compared with.
    """

    files: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    text: str = ""

    @cached_property
    def terms(self) -> frozenset[str]:
        """The words of all that."""
        return frozenset(lexical_tokens("\n".join((self.text, *self.commands))))

    @cached_property
    def ran(self) -> tuple[str, ...]:
        """The commands that were run, each as it was and without what only launches it."""
        return tuple(" ".join(words) for line in self.commands for words in _run_in(line))

    @cached_property
    def forms(self) -> tuple[str, ...]:
        """The normal forms of the commands."""
        return tuple(dict.fromkeys(form.text for line in self.commands for form in forms(line)))


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskInput:
    """What a task came with, whatever memory was shown to it: it is no sign of any memory that it was followed."""

    text: str = ""
    files: tuple[str, ...] = ()
    verify: str = ""


def signs_of_use(
    lesson: Lesson, deeds: Deeds, given: TaskInput, common: Callable[[Sequence[str]], Iterable[str]]
) -> tuple[str, ...]:
    """Return the signs of a memory's use in a task's deeds, in words, for its outcome; nothing where there are none.

    A sign is a file that was edited or a command that was run as the lesson says, named in code or word for word, or at
    least two words of its, and a quarter of them, that are rare in the store (`common` names those that are not). What
    stands in the task as it was given, or in the situation that the lesson is for, is a sign of nothing: it would be
    there without the lesson.
    """
    says = _LessonText(lesson.resolution or lesson.trigger)
    situation = _LessonText(f"{given.text}\n{given.verify}\n{lesson.trigger if lesson.resolution else ''}")
    return (
        *_files(says, lesson, deeds, given, situation),
        *_commands(says, deeds, situation),
        *_words(says.text, deeds, situation.text, common),
    )


@dataclass(frozen=True)
class _LessonText:
    """A text with what it mentions, found once."""

    text: str

    @cached_property
    def _mentions(self) -> tuple[Mention, ...]:
        return mentions(self.text)

    def named(self, kind: EntityKind) -> list[str]:
        return [mention.name for mention in self._mentions if mention.kind is kind]


def _files(says: _LessonText, lesson: Lesson, deeds: Deeds, given: TaskInput, situation: _LessonText) -> list[str]:
    known = {*map(canonical_path, given.files), *situation.named(EntityKind.FILE)}
    wanted = [path for path in (*map(canonical_path, lesson.files), *says.named(EntityKind.FILE)) if path]
    fresh = [path for path in dict.fromkeys(wanted) if not any(_same_file(path, other) for other in known)]
    edited = list(dict.fromkeys(map(canonical_path, deeds.files)))
    return [f"edited {path}" for path in edited if any(_same_file(path, other) for other in fresh)]


def _commands(says: _LessonText, deeds: Deeds, situation: _LessonText) -> list[str]:
    known = situation.named(EntityKind.COMMAND)
    wanted = [name for name in says.named(EntityKind.COMMAND) if name not in known]
    met = [name for name in wanted if any(f"{words} ".startswith(f"{name} ") for words in deeds.ran)]
    return [f"ran {name}" for name in dict.fromkeys((*met, *_in_prose(says.text, deeds, situation.text)))]


def _in_prose(says: str, deeds: Deeds, situation: str) -> list[str]:
    """Return the commands, of a tool and what it is to do, that were run and that a text bids word for word.

    In prose nothing marks a command, so only a whole normal form counts, and none that its sentence forbids.
    """
    return [name for name in deeds.forms if _bids(says, name) and not _named_in(situation, name)]


def _bids(says: str, command: str) -> bool:
    if command.count(" ") + 1 < _LEAST_OF_COMMAND:
        return False
    found = _named_in(says, command)
    return any(_FORBIDS.search(_SENTENCE_END.split(says[: one.start()])[-1]) is None for one in found)


def _named_in(text: str, command: str) -> list[re.Match[str]]:
    spaced = r"\s+".join(map(re.escape, command.split()))
    return list(re.finditer(rf"(?<![\w./-]){spaced}(?![\w/-]|\.\w)", text))


def _run_in(line: str) -> list[list[str]]:
    whole = parse(line)
    return [] if whole is None else [found for words in words_of(whole) for found in (bare_command(words), [*words])]


def _words(says: str, deeds: Deeds, situation: str, common: Callable[[Sequence[str]], Iterable[str]]) -> list[str]:
    known = set(lexical_tokens(situation))
    telling = [term for term in query_terms(says) if term not in known and len(term) > 2]
    usual = set(common(telling))
    telling = [term for term in telling if term not in usual]
    met = [term for term in telling if term in deeds.terms]
    if len(met) < max(_LEAST_WORDS, _LEAST_SHARE * len(telling)):
        return []
    return [f"wrote {', '.join(met[:_SHOWN_WORDS])}"]


def _same_file(path: str, other: str) -> bool:
    """Return whether two paths name one file, as far as the shorter one says."""
    here, there = PurePosixPath(path).parts, PurePosixPath(other).parts
    least = min(len(here), len(there))
    return least > 0 and here[-least:] == there[-least:]
