"""Contradictions are told from words, precisely enough on labelled pairs to be worth a person's look."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helix.memory.contradiction.detect import Ground, Statement, contradiction


def statement(text: str) -> Statement:
    """The trigger and the resolution of a statement are parted by a bar."""
    trigger, _, resolution = text.partition("|")
    return Statement(trigger=trigger, resolution=resolution)


def ground(left: str, right: str) -> Ground | None:
    found = contradiction(statement(left), statement(right))
    return None if found is None else found.ground


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("use tabs in makefiles", "never use tabs in makefiles", Ground.NEGATION),
        ("the cache survives a restart", "the cache doesn't survive a restart", Ground.NEGATION),
        ("telemetry|enabled by default", "telemetry|disabled by default", Ground.OPPOSITE),
        ("indent python with tabs", "indent python with spaces", Ground.OPPOSITE),
        ("strict mode is on in ci", "strict mode is off in ci", Ground.OPPOSITE),
        ("the api listens on port 8080", "the api listens on port 9090", Ground.NUMBER),
        ("needs kuzu 0.11.3", "needs kuzu 0.12.0", Ground.NUMBER),
        ("database pool size|keep it at 10", "database pool size|keep it at 20", Ground.NUMBER),
        ("production database|is postgres", "production database|is mysql", Ground.VALUE),
        ("the default branch is called main", "the default branch is called trunk", Ground.VALUE),
        ("The API needs Node 20. Older ones fail.", "The API needs Node 22. Older ones fail.", Ground.NUMBER),
        ("The cache TTL is 60 seconds.", "The cache TTL is 5 minutes.", Ground.NUMBER),
        ("The database is PostgreSQL.", "The database is MySQL.", Ground.VALUE),
        ("The linter is ruff.", "The linter is flake8.", Ground.VALUE),
        ("Alice owns the billing service.", "Bob owns the billing service.", Ground.VALUE),
        ("Tests run with pytest.", "Tests run with unittest.", Ground.VALUE),
        ("Releases are cut every two weeks.", "Releases are cut every month.", Ground.VALUE),
        ("Logs go to stdout.", "Logs go to a file in /var/log.", Ground.VALUE),
        ("Commits must be signed.", "Commits need not be signed.", Ground.NEGATION),
        ("releases are cut on which day|on monday", "releases are cut on which day|on friday", Ground.VALUE),
        ("which day is the standup|monday", "which day is the standup|friday", Ground.VALUE),
        ("The standup is on Monday.", "The standup is on Friday.", Ground.VALUE),
    ],
)
def test_what_cannot_both_hold_is_found_with_its_ground(left: str, right: str, expected: Ground) -> None:
    assert ground(left, right) is expected
    assert ground(right, left) is expected


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("run the tests before a commit", "run the linter before a commit"),
        ("never use tabs", "use spaces"),
        ("issue 12 is about logging", "issue 13 is about logging"),
        ("Bump the version (#388)", "Bump the version (#860)"),
        ("port of host 1|it listens on 8080", "port of host 2|it listens on 9090"),
        ("the upload job fails on Linux with a timeout", "the upload job fails on Windows with a timeout"),
        ("the api listens on port 8080", "the api listens on port 8080 and 9090"),
        ("the build takes ten minutes", "nobody may push to main without a review"),
        ("use ruff", "use ruff"),
        ("component 5 of billing takes event 35", "component 6 of billing takes event 42"),
        ("customer number 12 pays by card", "customer number 13 pays by card"),
        ("The API server listens on port 8081.", "The admin server listens on port 9091."),
        ("The unit tests take 30 seconds.", "The integration tests take 90 seconds."),
        ("The staging cluster has 3 nodes.", "The production cluster has 9 nodes."),
        ("The frontend uses 4 workers.", "The backend uses 8 workers."),
        ("The parser requires libfoo 2.1.", "The lexer requires libfoo 3.0."),
        ("Python 3.11 is supported.", "Python 3.12 is supported."),
        ("The timeout is 30 s.", "The timeout for uploads is 300 s."),
        ("The build is slow.", "The build is flaky."),
        ("The backend uses PostgreSQL.", "The backend uses Redis."),
        ("We deployed 2.3.", "We deployed 2.4."),
        ("Never deploy on Fridays.", "Never deploy on holidays."),
        ("releases are cut on which day|on monday", "hotfixes are cut on which day|on friday"),
        ("outages happened on which day|on monday", "outages happened on which day|on friday"),
        ("the standup is on monday", "the standup is on monday and friday"),
    ],
)
def test_what_may_both_hold_is_no_contradiction(left: str, right: str) -> None:
    assert ground(left, right) is None


@pytest.mark.parametrize(
    ("older", "newer", "sure"),
    [
        ("We host the API on Heroku.", "We decided to host the API on Fly.io instead of Heroku.", True),
        ("We use Postgres 15 for the ledger.", "We moved the ledger from Postgres 15 to Postgres 16.", True),
        ("We decided to use Jest.", "We decided to switch from Jest to Vitest.", True),
        ("We decided to keep the monorepo.", "We decided to abandon the monorepo.", True),
        ("We decided to support Python 3.9.", "We decided to drop support for Python 3.9.", True),
        ("We decided to use Webpack for the admin bundle.", "We decided to replace Webpack by Vite.", False),
        ("We decided to use flags from LaunchDarkly.", "We decided to drop LaunchDarkly.", False),
        ("We decided against Kubernetes for the edge.", "We decided to use Kubernetes for the edge.", True),
        ("We decided to write the importer in Python.", "We decided to rewrite the importer in Rust.", False),
        ("The gateway listens on port 7000.", "Since Monday the gateway listens on port 7443.", True),
        ("The gateway listens on port 7000.", "The gateway listens on port 7443 now.", True),
        ("The gateway listens on port 7000.", "Correction: the gateway listens on port 7443, not 7000.", True),
        ("The rate limit is 100 requests.", "We raised the rate limit to 300 requests.", True),
        ("We agreed on 15 minutes for the lock timeout.", "We agreed on 20 minutes for the lock timeout.", True),
        ("Invoices are numbered per year.", "Invoices are no longer numbered per year.", True),
        ("Index rebuilds happen on Mondays.", "Index rebuilds happen on Fridays from now on.", False),
        ("mira: We decided to use tabs.", "jonas: We decided to use spaces.", False),
        ("Always mock the clock in tests.", "Never mock the clock in tests, it hides races.", False),
    ],
)
def test_what_replaces_an_older_state_contradicts_it_and_surely_where_all_else_is_the_same(
    older: str, newer: str, sure: bool
) -> None:
    found = contradiction(Statement(trigger=older), Statement(trigger=newer))

    assert found is not None and found.sure is sure
    assert contradiction(Statement(trigger=newer), Statement(trigger=older)) == dataclasses.replace(
        found, left=found.right, right=found.left
    )


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("We use Vitest.", "We decided to switch from Jest to Vitest."),
        ("We use Vitest.", "We moved from Jest to Vitest in 2023."),
        ("The gateway listens on port 7443.", "The gateway used to listen on port 7000."),
        ("We stopped using Sentry.", "We no longer use Sentry."),
        ("We keep the monorepo.", "Should we abandon the monorepo?"),
        ("We use RabbitMQ for jobs.", "We might move the jobs from RabbitMQ to NATS."),
        ("We use RabbitMQ for mail.", "We decided to switch the analytics from RabbitMQ to Kafka."),
        ("The script reads files in the inbox.", "The script moves files from inbox to archive."),
        ("Service A listens on port 8410.", "Service B now listens on port 9410."),
        ("The pool has 8 threads.", "If the machine has 32 cores, the pool has 16 threads."),
        ("We use Sentry for errors.", "We use Sentry for errors, but not in the CLI."),
        ("api: the port is 8410.", "web: the port is 9410."),
    ],
)
def test_history_other_subjects_conditions_and_restatements_replace_nothing(one: str, other: str) -> None:
    assert ground(one, other) is None and ground(other, one) is None


@pytest.mark.parametrize(
    ("older", "newer", "sure"),
    [
        ("The wiki is on Heroku.", "After three outages we decided to move the wiki from Heroku to Fly.io.", True),
        ("We agreed to keep logs for 90 days.", "We've agreed to keep logs for 30 days from January on.", True),
        ("We decided to use Redis.", "Redis didn't scale, we agreed to switch from Redis to NATS.", False),
        (
            "We decided to keep raw logs for 90 days.",
            "The auditors said so: we decided to keep raw logs for 30 days.",
            False,
        ),
        ("I prefer rebase merges.", "I've changed my mind about rebase merges, I prefer squash merges.", True),
        ("The wiki is on Heroku.", "The wiki is on Fly.io since last week, Heroku is gone.", False),
        ("Mira owns the importer.", "Jonas has taken over the importer from Mira.", True),
    ],
)
def test_what_comes_before_a_change_does_not_hide_it(older: str, newer: str, sure: bool) -> None:
    found = contradiction(Statement(trigger=older), Statement(trigger=newer))
    assert found is not None and found.sure is sure


@pytest.mark.parametrize(
    "denied",
    [
        "We did not, as planned, switch from Heroku to Fly.io.",
        "The board said no, we don't move from Heroku to Fly.io.",
        "After we've measured it, we'll switch from Heroku to Fly.io.",
        "We plan, after the audit, to switch from Heroku to Fly.io.",
        "I haven't changed my mind about Heroku.",
    ],
)
def test_a_change_that_is_denied_or_only_planned_replaces_nothing_whatever_stands_between(denied: str) -> None:
    assert ground("We use Heroku.", denied) is None


def test_what_is_said_beside_a_change_may_limit_it_and_a_reason_does_not() -> None:
    kept = Statement(trigger="We decided to support Python 3.9.")
    dropped = "We decided to drop support for Python 3.9."

    found = [
        contradiction(kept, Statement(trigger=dropped, resolution=beside))
        for beside in ("Only on Windows.", "Because nobody uses it.")
    ]

    assert [one is not None and one.sure for one in found] == [False, True] and found[0] is not None


def test_a_very_long_statement_is_compared_as_it_is() -> None:
    long = "the port " * 4000

    assert ground(long, f"Never {long}") is Ground.NEGATION


def test_of_a_text_of_many_clauses_the_first_are_compared() -> None:
    ours, theirs = (
        [f"the {side} of part {number} is {side} {number}." for number in range(40)] for side in ("top", "bottom")
    )
    ours.insert(1, "The linter is ruff.")
    assert ground(" ".join(ours), " ".join([*theirs[:3], "The linter is flake8.", *theirs[3:]])) is Ground.VALUE
    assert ground(" ".join(ours), " ".join([*theirs[:30], "The linter is flake8.", *theirs[30:]])) is None


WORDS = (
    *("use", "never", "tabs", "spaces", "port", "80", "90", "is", "on", "off", "the", "not", "a", "without", "with"),
    *("we", "decided to", "now", "instead of", "from", "to", "drop", "move", "replace", "no longer", "since", ","),
)
words = st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join)


@given(words, words)
def test_a_contradiction_is_one_from_both_sides_and_none_with_oneself(left: str, right: str) -> None:
    assert ground(left, right) is ground(right, left)
    assert ground(left, left) is None


@pytest.mark.parametrize(
    ("left", "right", "sure"),
    [
        ("The database is PostgreSQL.", "The database is MySQL.", True),
        ("The database is PostgreSQL.", "The database is MySQL, I think.", False),
        ("The API server listens on port 8080.", "The API server listens on port 9090.", True),
        ("The API server listens on port 8080.", "The API server listens on port 9090 since the move.", True),
        ("A worker has 2 queues.", "A worker has 3 queues.", False),
        ("A query takes about 30 ms.", "A query takes about 50 ms.", False),
        ("battery life|up to 12 months", "battery life|up to 6 months", False),
        ("The linter is ruff.", "The linter is flake8.", False),
        ("The cache survives a restart.", "The cache does not survive a restart.", True),
        ("The cache survives a restart.", "The cache usually does not survive a restart.", False),
    ],
)
def test_only_where_subject_and_relation_agree_in_all_their_words_may_a_rule_decide(
    left: str, right: str, sure: bool
) -> None:
    found = contradiction(statement(left), statement(right))
    assert (found is not None and found.sure) is sure


@pytest.mark.parametrize(
    ("name", "precision", "recall"),
    [("tuned", 0.95, 0.9), ("held_out", 0.9, 0.85), ("changes_tuned", 0.95, 0.9), ("changes_held_out", 0.95, 0.85)],
)
def test_of_developers_sentences_hardly_any_is_flagged_wrongly_and_none_would_be_ended(
    name: str, precision: float, recall: float
) -> None:
    path = Path(__file__).parent / "developer" / name / "pairs.jsonl"
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    found = [contradiction(Statement(trigger=row["a"]), Statement(trigger=row["b"])) for row in rows]
    true = [row["label"] == "contradiction" for row in rows]
    flagged = [label for label, one in zip(true, found, strict=True) if one is not None]
    assert sum(flagged) / len(flagged) >= precision and sum(flagged) / sum(true) >= recall
    assert all(label for label, one in zip(true, found, strict=True) if one is not None and one.sure)


def test_on_labelled_pairs_nine_in_ten_flags_are_right_and_hardly_any_falls_on_an_entailment(
    evaluation_data: Path,
) -> None:
    rows = [json.loads(line) for line in (evaluation_data / "sick" / "pairs.jsonl").read_text("utf-8").splitlines()]
    found = [contradiction(Statement(trigger=row["a"]), Statement(trigger=row["b"])) for row in rows]
    flagged = [row["label"] for row, one in zip(rows, found, strict=True) if one is not None]
    assert flagged.count("contradiction") / len(flagged) >= 0.9
    assert flagged.count("contradiction") / sum(row["label"] == "contradiction" for row in rows) >= 0.7
    assert flagged.count("entailment") / len(flagged) <= 0.01
