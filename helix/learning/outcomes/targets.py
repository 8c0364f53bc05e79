"""Targets: what a name that a project gives to a piece of work says of it: `test:unit`, `build-api`, `run_tests`."""

from __future__ import annotations

import re

from helix.model.evidence import EvidenceKind
from helix.text.spotting.vocabulary import words
from helix.text.tools import BUILD, LINT, TEST

_WORDS = {
    **dict.fromkeys(words("test tests spec specs e2e unit integration pytest jest vitest unittest unittests"), TEST),
    **dict.fromkeys(words("lint linter typecheck types tsc vet eslint ruff mypy clippy style checkstyle"), LINT),
    **dict.fromkeys(words("build compile bundle"), BUILD),
}
_ALONE = {**dict.fromkeys(words("check ci t"), TEST), **dict.fromkeys(words("all dist"), BUILD)}
"""Words that say it only where they are the whole name: `check-env` and `install-all` are something else."""
_CHECKED = words("type format formatting fmt prettier")
"""What is only looked at where `check` stands beside it."""
_HOW = words("run all ci full quick fast local")
"""Words that say nothing of what is done."""
_BESIDE = words(
    """
    clean cleanup clear rm remove delete reset setup teardown up down install uninstall update updates upgrade outdated
    generate gen codegen regenerate create new seed kill start stop restart serve server watch ui env environment db
    database image images deps dependencies docs fixtures fixture data deploy health init list ls help publish upload
    push pull prepare bootstrap download open log logs report reports result results migrate login shell version info
    show bench benchmark cache checkout link scaffold template updater record
    """
)
"""What prepares the work, serves it or tells of it, and ends well whatever the work is like."""


def of_target(name: str) -> EvidenceKind | None:
    """Return the kind of the first or last part of a name; None where another part says that it is something else."""
    parts = [part for part in re.split(r"[^a-z0-9]+", name.lower()) if part]
    if len(parts) == 1 and parts[0] in _ALONE:
        return _ALONE[parts[0]]
    parts = [part for part in parts if part not in _HOW]
    if not parts or set(parts) & _BESIDE:
        return None
    if parts == ["check"]:
        return TEST
    if "check" in parts and set(parts) & _CHECKED:
        return LINT
    kinds = [_WORDS[part] for part in (parts[0], parts[-1]) if part in _WORDS]
    if kinds[:1] == [TEST] and kinds[-1] is not TEST:
        return LINT if kinds[-1] is LINT else None  # `test:build` may build the tests, or test what was built
    return kinds[0] if kinds else None
