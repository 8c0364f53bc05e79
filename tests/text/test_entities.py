"""What a text speaks of is found by its shape, under one name for one thing, and plain English is left alone."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from helix.model.entity import EntityKind, Mention
from helix.text.spotting.entities import LONGEST_TEXT, MOST_MENTIONS, mentions

FILE, SYMBOL, COMMAND, ERROR = EntityKind.FILE, EntityKind.SYMBOL, EntityKind.COMMAND, EntityKind.ERROR
PACKAGE, TEST, COMMIT, URL = EntityKind.PACKAGE, EntityKind.TEST, EntityKind.COMMIT, EntityKind.URL
PERSON, CONCEPT = EntityKind.PERSON, EntityKind.CONCEPT


def found(text: str, kind: EntityKind) -> list[str]:
    return [mention.name for mention in mentions(text) if mention.kind is kind]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("fix lib/vtls/openssl.c and README.md.", ["lib/vtls/openssl.c", "README.md"]),
        ("see ./src/app.py:12:5, then", ["src/app.py"]),
        ("in C:\\Users\\me\\site.cfg (again)", ["C:/Users/me/site.cfg"]),
        ("src\\helix\\store.py", ["src/helix/store.py"]),
        ("`tests/data` and docs/cmdline-opts", ["tests/data", "docs/cmdline-opts"]),
        ("~/.config/helix/config.toml or /etc/hosts", ["~/.config/helix/config.toml", "/etc/hosts"]),
        ("diff --git a/lib/url.c b/lib/url.c", ["lib/url.c"]),
        ("comments in lib/curl_trc.{c,h}", ["lib/curl_trc.c", "lib/curl_trc.h"]),
        ("the Makefile, .gitignore and CMakeLists.txt", ["Makefile", ".gitignore", "CMakeLists.txt"]),
        ("package.json#L10-L20", ["package.json"]),
        ("(see [notes](notes/day.md))", ["notes/day.md"]),
    ],
)
def test_paths_have_one_form(text: str, names: list[str]) -> None:
    assert found(text, FILE) == names


@pytest.mark.parametrize(
    "text",
    [
        "and/or, he/she, input/output, TCP/IP",
        "HTTP/2 and curl/7.68.0",
        "a text/html or application/json body",
        "on 12/05/2023, 1/2 of it, 24/7",
        "e.g. this, i.e. that, etc.",
        "the U.S. and Node.js",
        "escapes like \\n and \\d+\\w",
        "src/*.py",
        "and so on...",
    ],
)
def test_slashes_and_dots_alone_make_no_path(text: str) -> None:
    assert found(text, FILE) == []


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("call Curl_req_want_send() first", ["Curl_req_want_send"]),
        ("getUserName and QuerySet.filter()", ["getUserName", "QuerySet.filter"]),
        ("set SOCK_NONBLOCK; see std::vector", ["SOCK_NONBLOCK", "std::vector"]),
        ("`replace` is not in place", ["replace"]),
        ("self._sample_type is __slots__", ["_sample_type", "__slots__"]),
        ("os.path.join of df.to_csv", ["os.path.join", "df.to_csv", "to_csv"]),
        ("run it with --dry-run", ["--dry-run"]),
        ("printf() leaks", ["printf"]),
    ],
)
def test_symbols_have_the_shape_of_code(text: str, names: list[str]) -> None:
    assert found(text, SYMBOL) == names


@pytest.mark.parametrize(
    "text",
    [
        "Plain English words, even LOUD ones, are never symbols.",
        "We met at the end.Then we left. See example.com or Amazon.com.",
        "iPhone, YouTube and JavaScript; McDonald and DiCaprio; URLs, DVDs and a PhD",
        "the file(s) and function(s)",
        "`true`, `None` and `x86_64`",
        "J.R.R. Tolkien, a.k.a. the author, at 5 p.m.",
        "it is _really_ __very__ *good*",
    ],
)
def test_words_of_a_language_are_no_symbols(text: str) -> None:
    assert [name for name in found(text, SYMBOL) if name != "__very__"] == []


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("$ git rebase -i HEAD~3", ["git rebase"]),
        ("then `docker compose up -d`", ["docker compose"]),
        ("I ran git cherry-pick twice", ["git cherry-pick"]),
        ("```\npytest -x tests\n```", ["pytest"]),
        ("use `python -m pytest -k slow`", ["pytest"]),
        ("curl -sS https://example.org", ["curl"]),
        ("user@box:~/src$ make check", ["make check"]),
        ("`sudo` aside: `make test`, `npm i`", ["make test", "npm install"]),
    ],
)
def test_commands_are_their_first_two_words(text: str, names: list[str]) -> None:
    assert found(text, COMMAND) == names


@pytest.mark.parametrize(
    "text",
    [
        "Make sure that it works, and go to the store.",
        "make test 12 pass",
        "go get the others",
        "we grep a lot and curl follows redirects",
        "the git history of this node",
        "```python\nx = 1\n```",
    ],
)
def test_words_that_are_also_commands_need_a_prompt_or_a_subcommand(text: str) -> None:
    assert found(text, COMMAND) == []


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("raises requests.exceptions.ConnectionError", ["ConnectionError"]),
        ("ENOENT, then SIGSEGV and E501", ["ENOENT", "SIGSEGV", "E501"]),
        ("HTTP 404, HTTP/1.1 503, status code 500", ["HTTP 404", "HTTP 503", "HTTP 500"]),
        ("the page is 404 Not Found", ["HTTP 404"]),
        ("exited with code 137; exit status 1", ["exit code 137", "exit code 1"]),
        ("returns CURLE_OUT_OF_MEMORY", ["CURLE_OUT_OF_MEMORY"]),
        ("TS2345 and ORA-00001 and CVE-2023-38545", ["TS2345", "ORA-00001", "CVE-2023-38545"]),
        ("[Errno 104] and a segmentation fault", ["errno 104", "SIGSEGV"]),
        ("An Error or Exception; the VT500; 404 files", []),
    ],
)
def test_errors_are_classes_codes_and_states(text: str, names: list[str]) -> None:
    assert found(text, ERROR) == names


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("pip install numpy 'pandas[excel]>=2.0'", ["numpy", "pandas"]),
        ("run pip install -r requirements.txt Typing_Extensions", ["typing-extensions"]),
        ("npm i -D @types/node lodash@4.17.21", ["@types/node", "lodash"]),
        ("import numpy as np, os\nfrom sympy.abc import x", ["numpy", "sympy"]),
        ("needs urllib3==1.26.5", ["urllib3"]),
        ("import React from 'react'\nconst fs = require('fs')", ["react"]),
        ("pip install fails with an error", []),
        ("they import goods from abroad", []),
    ],
)
def test_packages_are_installed_imported_or_pinned(text: str, names: list[str]) -> None:
    assert found(text, PACKAGE) == names


def test_tests_are_named_by_function_path_or_number() -> None:
    assert found("tests/store/test_log.py::test_replay fails", TEST) == ["tests/store/test_log.py::test_replay"]
    assert found("tests/store/test_log.py::test_replay fails", FILE) == ["tests/store/test_log.py"]
    assert found("test_replay and TestReplay", TEST) == ["test_replay", "TestReplay"]
    assert found("tests 1981, 2012 and 2013; test760", TEST) == ["test 1981", "test 2012", "test 2013", "test 760"]
    assert found("we test 3 times with 20 test users", TEST) == []


def test_commits_are_hashes_cut_to_one_length() -> None:
    assert found("Follow-up to dac293cfb7026b1ca4175d88b80f1432d3d3c684", COMMIT) == ["dac293cfb702"]
    assert found("eae2563..b1ff867 and 8a940fd55c175f7", COMMIT) == ["8a940fd55c17"]
    assert found("1234567 defaced #ff00aa80 2e10000", COMMIT) == []
    assert found("https://github.com/o/r/commit/dac293cfb7026b1ca4", COMMIT) == ["dac293cfb702"]


def test_urls_lose_query_credentials_and_punctuation() -> None:
    assert found("(see https://Example.org/a_(b)?q=1#top).", URL) == ["https://example.org/a_(b)"]
    assert found("git://me:secret@host.org/x.git,", URL) == ["git://host.org/x.git"]


def test_people_are_handles_and_never_addresses() -> None:
    text = "thanks @ada-l and ada@example.org, <bob@mail.example.com> https://e.org/u/ada@example.org @param"
    assert found(text, PERSON) == ["@ada-l"]
    assert not [mention for mention in mentions(text) if "example" in mention.name or "mail" in mention.name]
    assert found("@cached(maxsize=1)\n@wrapped\ndef f(): pass", PERSON) == []


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (
            "When did Caroline read the Journal of Psychotherapy Integration?",
            ["Caroline", "Journal of Psychotherapy Integration"],
        ),
        ("Hey Melanie! Caroline's here. Thanks, Jon!", ["Melanie", "Caroline", "Jon"]),
        ("She met Simon and Garfunkel.", ["Simon", "Garfunkel"]),
        ("the Department of Health and Human Services", ["Department of Health and Human Services"]),
        (
            "works by J. R. R. Tolkien, Dr. Jane Doe and Ludwig van Beethoven",
            ["J. R. R. Tolkien", "Jane Doe", "Ludwig van Beethoven"],
        ),
        ("The Beatles played. It was in St. Louis.", ["Beatles", "St. Louis"]),
        ("in May, on Friday, after March", []),
        ("Fixed the leak. Adding more tests. Remove it. Unfortunately not.", []),
        ("Female birds sing; the female sings.", []),
        ("I think I'm OK. He said No.", []),
        ("It was NOT good, and we LOVE it.", []),
        ("In New York City, Theresa May spoke.", ["New York City", "Theresa May"]),
        ("in Culiac\u00e1n and \u00c5rhus", ["Culiac\u00e1n", "\u00c5rhus"]),
        ("pass -Wdocumentation, $PIDDIR and %APPDATA%", []),
        ("the World Drivers' Championship", ["World Drivers' Championship"]),
        ("class Foo(Bar):\n    return Baz\n", []),
    ],
)
def test_concepts_are_names_and_not_the_starts_of_sentences(text: str, names: list[str]) -> None:
    assert found(text, CONCEPT) == names


def test_a_word_that_starts_sentences_is_a_name_once_it_stands_inside_one() -> None:
    assert found("Will came late.", CONCEPT) == []
    assert found("Mark came late. We like Mark, and so does Mark's dog.", CONCEPT) == ["Mark"]


def test_code_in_prose_brings_no_concepts() -> None:
    assert found("`NOT LESS` and\n```\nGreat Expectations\n```\nx = Foo Bar\n", CONCEPT) == []


def test_given_files_come_first_in_canonical_form() -> None:
    names = [mention.name for mention in mentions("see src/b.py", files=["./src\\a.py", " ", "src/b.py", "lib/*.c"])]
    assert names == ["src/a.py", "src/b.py", "lib/*.c"]


def test_names_that_differ_in_case_alone_are_one_mention_as_first_written() -> None:
    assert mentions("with CAROLYN Jones, and Carolyn Jones") == (Mention(kind=CONCEPT, name="CAROLYN Jones"),)


def test_the_most_telling_kinds_survive_the_limit() -> None:
    text = " ".join(f"call symbol_{n}()" for n in range(100)) + " raises ValueError in a.py"
    kept = mentions(text)
    assert len(kept) == MOST_MENTIONS
    assert [mention.kind for mention in kept[:3]] == [FILE, ERROR, SYMBOL]


def test_nothing_behind_the_longest_text_is_read() -> None:
    assert found("x " * (LONGEST_TEXT // 2) + "src/late.py", FILE) == []


_PIECES = (
    "git rebase $ ` `` ``` \n \r\n :: / \\ . .. .{c,h} @ # - -- _ __init__ a.b self. http:// https://x.y/z?q ( ) [ ] "
    "{ } = == >= , ; : ! ? ' \" pip install import from test tests 404 Not Found HTTP exit code 12 deadbeef1 Caroline "
    "of the and & St. May McDonald \u00c5 \u0130 \ud800 \x00 \u2019s src/a.py C:\\x\\y.c FooError fooBar"
)
_PIECED = st.lists(st.sampled_from(_PIECES.split(" ")), max_size=40).map(" ".join)
_TEXTS = st.one_of(st.text(max_size=300), _PIECED)


@given(_TEXTS, st.lists(st.text(max_size=20), max_size=3))
@example("St. \u0130. & & of the", ["./", "//", "\\"])
@example("", ["0\r/", "./ a", "b / /"])
def test_any_text_gives_distinct_named_mentions(text: str, files: list[str]) -> None:
    got = mentions(text, files=files)
    assert got == mentions(text, files=files)
    assert len(got) <= MOST_MENTIONS
    assert all(mention.name and mention.name == mention.name.strip() for mention in got)
    keys = [(mention.kind, mention.name.casefold()) for mention in got]
    assert len(keys) == len(set(keys))


@given(_TEXTS)
def test_a_name_found_is_found_again_on_its_own_in_the_same_form(text: str) -> None:
    for mention in mentions(text):
        if mention.kind in (COMMIT, FILE, URL, ERROR) and " " not in mention.name:
            again = [other.name for other in mentions(f"see {mention.name} there") if other.kind is mention.kind]
            assert again == [mention.name] or not again
