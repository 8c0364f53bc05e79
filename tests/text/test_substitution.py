"""An exchange tells two rules apart that differ in a word, and leaves the wordings of one rule together."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helix.text.statement.substitution import words_exchanged

WORDS = st.lists(
    st.sampled_from(["always", "run", "the", "linter", "tests", "before", "push", "merge", "on", "main", "and", "Kim"]),
    max_size=9,
).map(" ".join)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("We agreed that juniors review first.", "We agreed that seniors review first."),
        ("Never commit generated files.", "Never commit large files."),
        ("Always pin the base image.", "Always pin the compiler version."),
        ("Remember: Ana is on call.", "Remember: Ben is on call from now on."),
        ("Never delete rows from the events table.", "Never delete rows from the billing table."),
        ("Remember: the bucket is called ingest-blue.", "Remember: the bucket is called ingest-green."),
        ("Vergiss nicht: die linke Pumpe speist den Kessel.", "Vergiss nicht: die rechte Pumpe speist den Kessel."),
        ("Always run the migrations before the backfill.", "Always run the backfill before the migrations."),
        ("Always copy the database to staging.", "Always copy staging to the database."),
        ("Remember: the scheduler feeds the worker.", "Remember: the worker feeds the scheduler."),
    ],
)
def test_two_rules_that_differ_in_a_word_or_in_the_order_of_two_are_told_apart(one: str, other: str) -> None:
    assert words_exchanged(one, other)


@pytest.mark.parametrize(
    "wordings",
    [
        (
            "Please always run gofumpt before you commit.",
            "Before a commit, gofumpt has to be run on the changed files.",
            "Don't commit without having run gofumpt.",
            "Run gofumpt before each commit.",
            "Reminder: gofumpt, then commit.",
            "Make sure to run gofumpt before committing.",
        ),
        (
            "Always activate the venv first.",
            "Never forget to activate the venv first.",
            "Always activate the virtualenv before you run the tests.",
            "Remember: activate the venv before running tests.",
            "Always source the venv before running pytest.",
            "Always activate the venv first, because imports fail otherwise.",
        ),
        (
            "We decided to use Postgres for the ledger.",
            "We've decided on Postgres for the ledger.",
            "We agreed to use PostgreSQL for the ledger.",
            "We settled on Postgres for the ledger service.",
        ),
        (
            "I prefer short commit messages.",
            "I like short commit messages.",
            "I prefer commit messages short.",
            "I prefer concise commit messages.",
        ),
        ("Always reboot the gateway after changing the APN.", "Restart the gateway after each change of the APN."),
        ("Always keep logs and traces.", "Always keep traces and logs."),
        ("Run the linter before pushing.", "Run lint before a push."),
        ("Remember: backups run at night.", "Remember: backups of the ledger run at night."),
    ],
)
def test_the_wordings_of_one_rule_are_not(wordings: tuple[str, ...]) -> None:
    assert [pair for pair in combinations(wordings, 2) if words_exchanged(*pair)] == []


@given(WORDS | st.text(max_size=60), WORDS | st.text(max_size=60))
def test_which_of_two_texts_comes_first_changes_nothing_and_none_is_exchanged_for_itself(one: str, other: str) -> None:
    assert words_exchanged(one, other) == words_exchanged(other, one)
    assert not words_exchanged(one, one)
