"""Tools: which of them test, build or lint, in the common tools of many languages; what is typed alone and does work.

One table for who reads evidence from a command's end and for who looks up what is remembered of a command.

Of 78 commands of recorded runs that count tests 63 are judged with it, 42 without.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from helix.model.evidence import EvidenceKind
from helix.text.word_lists import list_of_word, word_data, word_list, word_lists, words

TEST, BUILD, LINT = EvidenceKind.TEST, EvidenceKind.BUILD, EvidenceKind.LINT

DO_ONE_THING = {
    tool: EvidenceKind(kind) for tool, kind in list_of_word("text/command_line/tools", "do_one_thing").items()
}
"""Tools that do one thing, unless an option or the first word says that they only talk."""

BY_ARGUMENT = {
    tool: {argument: EvidenceKind(kind) for kind, arguments in does.items() for argument in arguments.split()}
    for tool, does in word_data("text/command_line/tools", "by_argument").items()
}
"""Tools that do many things, by the argument that says which."""

FORMATTERS = words("black clang-format gofmt isort prettier rustfmt yapf")
"""Tools that do one thing, which is to change files unless an option has them only look."""

WORDS_TOO = words("ava behave credo pest prove selene standard tap trial ty vale")
"""Tools of the first table whose names are words of any sentence: alone they are not taken for a command."""

MODULES = frozenset({"unittest"})
"""Tools of the first table that are no command of their own: `python -m` runs them."""

DONE_ALONE: Mapping[str, str] = MappingProxyType({"yarn": "install", "bundle": "install"})
"""What tools that do many things do where nothing says which."""

DONE_BY_OPTION: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        name: frozenset(option for option in does if option.startswith("-"))
        for name, does in BY_ARGUMENT.items()
        if any(option.startswith("-") for option in does)
    }
)
"""Tools that are told by an option what to do: `cmake --build`, `node --test`."""

_LOOKING = word_list("text/command_line/tools", "looking")
_LOOKING_BY_ARGUMENT = word_lists("text/command_line/tools", "looking_by_argument")
_LOOKING_OPTIONS = words("--help -h --version -V --list --dry-run --show --collect-only --list-tests")


def only_looks(tool: str, said: Iterable[str]) -> bool:
    """Return whether a command line, by its tool and its other words, only shows what is there."""
    looking = _LOOKING_OPTIONS | _LOOKING_BY_ARGUMENT.get(tool, frozenset())
    return tool in _LOOKING or not looking.isdisjoint(said)
