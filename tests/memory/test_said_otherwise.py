"""What is said with other code, or in another order, is not what was said: no store and no upkeep swallows it."""

from __future__ import annotations

import pytest

from helix.memory.contradiction.classify import agrees
from helix.memory.remember.request import StoreRequest
from helix.model.dispute import DisputeStatus
from helix.model.memory import Status
from helix.model.reports import StoreStatus
from helix.operations import memories, review
from helix.providers.fakes import HashEmbedder
from helix.service import Helix
from helix.settings import Settings
from helix.text.statement.wording import turned_round


def store(helix: Helix, words: str) -> StoreStatus:
    return memories.store(helix, StoreRequest(trigger=words, resolution="", kind="convention")).status


TURNED = [
    ("We use pnpm, not npm, in this repository.", "We use npm, not pnpm, in this repository."),
    ("Branches: rebase, never merge.", "Branches: merge, never rebase."),
    ("Deploy to staging before production.", "Deploy to production before staging."),
    ("Run migrations, then restart the server.", "Restart the server, then run migrations."),
]
SWAPPED = [
    ("Copy the config from staging to production.", "Please copy the config from production to staging."),
    ("Sync main into develop before a release.", "Sync develop into main before each release."),
    ("I prefer REST over GraphQL for public APIs.", "The user prefers GraphQL over REST for public APIs."),
    ("The proxy forwards from port 80 to the gateway.", "Our proxy forwards from the gateway to port 80."),
    ("The worker calls the API.", "The API calls the worker."),
    ("Copy prod to staging every night.", "Copy staging to prod every night."),
]
FULLER = [
    ("Start it with `npm run dev`.", "Start it with `npm run dev -- --host`."),
    ("Start it with `npm run dev`.", "Start it with `sudo npm run dev`."),
    ("Run the tests with `uv run pytest -n 4`.", "Run the tests with `uv run pytest -n 4 --dist loadfile`."),
]


@pytest.mark.parametrize(("former", "later"), [*TURNED, *SWAPPED, *FULLER])
def test_what_a_person_says_otherwise_later_is_told(helix: Helix, former: str, later: str) -> None:
    store(helix, former)
    assert store(helix, later) is not StoreStatus.MERGED
    assert later in [one.trigger for one in helix.store.index.memories(Status.ACTIVE)]


@pytest.mark.parametrize(("former", "later"), TURNED)
def test_sides_that_are_turned_round_wait_for_a_decision(helix: Helix, former: str, later: str) -> None:
    store(helix, former)
    store(helix, later)
    assert [one.status for one in review.contradictions(helix).items] == [DisputeStatus.OPEN]


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Run lint and tests before pushing.", "Run tests and lint before pushing."),
        ("Never commit node_modules or dist.", "Never commit dist or node_modules."),
        ("Never push directly to main.", "Never directly push to main."),
        ("Never copy prod to staging.", "Copy staging to prod."),
        ("Copy staging to prod.", "Never copy prod to staging."),
    ],
)
def test_what_stays_on_its_side_is_not_turned_round(left: str, right: str) -> None:
    assert turned_round(left, right) is None


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        ("activate the venv before tests", "before tests activate the venv", True),
        ("every Friday we deploy", "we deploy every Friday", True),
        ("the worker calls the api", "the api calls the worker", False),
        ("run lint and tests before pushing", "run tests and lint before pushing", True),
        ("migrate the database before deploying it", "deploy the database before migrating it", False),
        ("deploy to the cluster from the laptop", "always deploy from the laptop to the cluster", True),
        ("a dog is pushing a child into a puddle", "a dog is pushing a small child into a puddle", True),
    ],
)
def test_what_is_only_said_first_changes_nothing(left: str, right: str, same: bool) -> None:
    assert agrees(left, right) is same


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("latency must be < 5 ms", "latency must be > 5 ms"),
        ("the arm64 build: \N{LARGE GREEN CIRCLE}", "the arm64 build: \N{LARGE RED CIRCLE}"),
        (
            "linux \N{WHITE HEAVY CHECK MARK} windows \N{CROSS MARK}",
            "linux \N{CROSS MARK} windows \N{WHITE HEAVY CHECK MARK}",
        ),
        ("requests go a \N{RIGHTWARDS ARROW} b", "requests go a \N{LEFTWARDS ARROW} b"),
        ("the budget is 5 \N{EURO SIGN}", "the budget is 5 $"),
        ("it fails when x == y", "it fails when x != y"),
        ("the offset is -5", "the offset is 5"),
        ("the range is [0, 1)", "the range is (0, 1]"),
        ("secrets are in .env", "secrets are in env"),
        ("config is read from ./config", "config is read from ../config"),
        ("use git branch -d", "use git branch -D"),
        ("the parser is written in C", "the parser is written in C++"),
        ("put & between them", "put && between them"),
        ("delete rows where status = 'archived'", "delete rows where status != 'archived'"),
        ("only retry when code != 500", "only retry when code = 500"),
        ("show ads when tier !== free", "show ads when tier == free"),
        ("the room is set to 18 degrees", "the room is set to \N{MINUS SIGN}18 degrees"),
        ("the retry offset is (5)", "the retry offset is (-5)"),
        ("start it with offset=1", "start it with offset=-1"),
        ("the worker needs python <3.12", "the worker needs python 3.12"),
        ("pin left-pad to ^1.2.0", "pin left-pad to 1.2.0"),
        ("pin left-pad to ~1.2.0", "pin left-pad to 1.2.0"),
        ("alert when coverage 80%", "alert when coverage <80%"),
        ("the macro tests if !(ready)", "the macro tests if (ready)"),
        ("the loop runs over 0..5", "the loop runs over 0...5"),
        ("> 5 ms is too slow", "5 ms is too slow"),
        ("declare timeout?: number", "declare timeout: number"),
    ],
)
def test_another_sign_says_another_thing(left: str, right: str) -> None:
    assert not agrees(left, right)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("run `make lint` first!", "Run make lint first."),
        ("always run **make lint** before a commit", "Always run make lint before a commit"),
        ("> never log the tokens", "Never log the tokens"),
        ("- ## tests need a ~~big~~ database?", "tests need a big database"),
        ("it takes 5 minutes, see #388!", "it takes 5 minutes, see 388"),
        ("> **Never** log *any* token!", "Never log any token"),
        ("запускай тесты перед коммитом", "Запускай тесты перед коммитом."),
        ("the cache \N{EM DASH} a big one \N{EM DASH} is warm", "the cache, a big one, is warm"),
        ("\N{LEFT DOUBLE QUOTATION MARK}green\N{RIGHT DOUBLE QUOTATION MARK} means go", "'green' means go"),
    ],
)
def test_other_punctuation_says_no_other_thing(left: str, right: str) -> None:
    assert agrees(left, right)


def test_what_says_less_is_the_same(settings: Settings) -> None:
    with Helix.open(settings, embedder=HashEmbedder()) as helix:
        store(helix, "Start it with `npm run dev -- --host`.")
        assert store(helix, "Start it with `npm run dev -- --host`") is StoreStatus.MERGED
