"""Taking commit messages apart: trailers, addresses, issues, and the commits they name."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helix.ingest.commit import touched
from helix.ingest.commit_cues import LONGEST_REASON, judge, plain, prose, why
from helix.ingest.commit_index import CommitIndex
from helix.ingest.message import (
    Naming,
    Reference,
    advisories,
    blamed,
    issues,
    merged_title,
    parse_message,
    references,
    titled,
    without_emails,
)
from helix.model.memory import Kind

SHA = "5c61e168698a0f2b4d6c8e0a1b3d5f7091a3c5e7"
LINES = st.sampled_from(
    [
        "Fix: a",
        f"Fixes: {SHA}",
        "Signed-off-by: A <a@b.cd>",
        "",
        " ",
        "\t",
        "Some-Key: value",
        "Closes #12",
        "```",
        f"This reverts commit {SHA[:8]}.",
        "a@b.cd",
        "<",
        "fixes https://x/,https://x/,,",
        'Revert "Revert "x""',
    ]
)
MESSAGES = st.one_of(st.text(), st.lists(st.one_of(LINES, st.text(max_size=30)), max_size=12).map("\n".join))


@given(MESSAGES)
def test_any_text_is_a_message_whose_parts_can_be_stored(text: str) -> None:
    message = parse_message(text)
    verdict = judge(message, paths=["a"])
    assert "\n" not in message.subject
    assert len(message.subject) <= 300
    message.text.encode("utf-8")
    assert verdict.kind is None or (1 <= verdict.importance <= 10 and 0 <= verdict.confidence <= 1)
    for reference in references(text):
        assert 7 <= len(reference.sha) <= 64


@pytest.mark.parametrize(
    "piece", [" ", "<a", "fixes #1,", "a-", "use ", "\n \n", "Fixes: x\n", "0a1b2c3 ", "drop a b "]
)
def test_a_long_message_of_one_repeated_piece_is_read_in_no_time(piece: str) -> None:
    """A pattern that backtracks would run for hours here."""
    text = piece * (60_000 // len(piece))
    judge(parse_message(f"{text}!\n\n{text}!"), paths=["a"])
    assert len(list(references(text))) <= 60_000


def test_trailers_leave_the_body_and_people_stay_in_the_evidence() -> None:
    message = parse_message(
        "Teach the parser zones\n\nNote: it is slow.\nReported-by: Bob <bob@x.org>\n\nMore of it.\n\n"
        "Fixes #12, #13\nCo-authored-by: Eve <e@x.org>\nChange-Id: I4711\nHelix-Eval-Id: 4711\n continued\nCc: x@y.org"
    )
    assert message.body == "Note: it is slow.\n\nMore of it."
    assert message.trailers == ("Reported-by: Bob", "Fixes: #12, #13", "Co-authored-by: Eve")


def test_a_header_in_the_middle_of_a_message_is_no_trailer() -> None:
    message = parse_message("Parse headers\n\nContent-Type: text/plain\n\nis what failed.")
    assert message.body == "Content-Type: text/plain\n\nis what failed."


def test_a_line_that_only_points_at_another_commit_is_evidence_not_text() -> None:
    message = parse_message(
        f"Parse zones\n\nThey were missing.\n\nFollow-up to {SHA} #12\nFollow-up to {SHA[:9]} which was long\n"
    )
    assert message.body == f"They were missing.\n\nFollow-up to {SHA[:9]} which was long"
    assert message.trailers == (f"Follow-up to {SHA} #12",)


def test_addresses_go_and_what_only_looks_like_one_stays() -> None:
    text = "Ask a.b+c@mail.example.org <d@e.org>, run scp me@host.example.org:x and ftp://u@host.org/ with user@host"
    assert without_emails(text) == "Ask [email], run scp me@host.example.org:x and ftp://u@host.org/ with user@host"


def test_issues_and_advisories_are_found_once_each() -> None:
    text = "See #12, GH-7 and https://x.org/a/b/issues/12, not &#39; nor abc#5 nor #0; CVE-2023-38545, cve-2023-38545"
    assert issues(text) == ("#12", "#7")
    assert advisories(text) == ("CVE-2023-38545",)


@pytest.mark.parametrize(
    ("text", "naming"),
    [
        (f"This reverts commit {SHA}.", Naming.REVERTS),
        (f"Partially reverts {SHA[:9]}", Naming.REVERTS),
        (f'Fixes: {SHA[:12]} ("subject")', Naming.FIXES),
        (f"Fixup for commit {SHA[:12]}", Naming.FIXES),
        (f"Regression in 7.86.0 (from {SHA[:10]})", Naming.BLAMES),
        (f"Bug: introduced in {SHA[:10]}", Naming.BLAMES),
        (f"It was broken by commit\n{SHA}", Naming.BLAMES),
        (f"Follow-up to {SHA}", Naming.FOLLOWS),
        (f"This is a followup to: {SHA[:7]}", Naming.FOLLOWS),
        (f"Follow up to {'0' * 7}a and {SHA[:7]}", Naming.FOLLOWS),
        (f"(cherry picked from commit {SHA})", Naming.PICKS),
        (f"Unused since {SHA[:9]}", Naming.SINCE),
        (f"Fixed in {SHA[:9]} for good", Naming.MENTIONS),
        (f"It broke. Then came\n\n{SHA[:9]}", Naming.MENTIONS),
        (f"https://github.com/a/b/commit/{SHA}", Naming.MENTIONS),
    ],
)
def test_what_is_said_about_a_commit_is_read_from_the_words_before_it(text: str, naming: Naming) -> None:
    assert list(references(text))[-1].naming is naming


def test_what_something_was_broken_by_is_found_by_its_number() -> None:
    assert blamed("Fixed what I broke in #413, a regression from #12. Closes #7") == ("#413", "#12")


def test_numbers_words_and_parts_of_paths_are_no_commits() -> None:
    assert list(references("1234567 defaced lib/0a1b2c3d4 0a1b2c 0a1b2c3d.txt-x id=0a1b2c3d")) == [
        Reference(sha="0a1b2c3d", naming=Naming.MENTIONS)
    ]


def test_a_short_hash_stands_for_a_commit_only_where_it_is_the_only_one() -> None:
    index = CommitIndex()
    for sha in (SHA, f"{SHA[:8]}{'f' * 32}", "a" * 40):
        index.add(sha)
    assert index.resolve(SHA[:9]) == SHA
    assert index.resolve(SHA[:7]) is None
    assert index.resolve("c" * 7) is None


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("Fix a crash when the list is empty\n\nIt crashed because the first item was read.", Kind.FAILURE),
        ("fix: read replies to their end\n\nPrior to this change the reply was read beyond its end.", Kind.FAILURE),
        ("add() no longer drops its last item\n\nThe list was silently cut.", Kind.FAILURE),
        ('Revert "Cache dates"\n\nMemory use doubled.', Kind.FAILURE),
        ('Revert "Cache dates"', Kind.DECISION),
        ("Change the colours\n\nWe took blue because red is an error.", Kind.DECISION),
        ("Drop add_route, in favor of one way to add", Kind.DECISION),
        ("Poll again after the last byte\n\nThe transfer could fail without a word otherwise.", Kind.FAILURE),
        ("Give the parser a buffer\n\nPrior to this change it read one byte at a time.", Kind.FAILURE),
        ("Split the parser into two files\n\nThe tests had to be adapted to it.", None),
        ("Document what a rejected pragma does\n\nThis is a known limitation.", Kind.DECISION),
        ("Drop support for Python 3.8", Kind.EVOLUTION),
        ("tests: switch from make to ninja", Kind.EVOLUTION),
        ("Raise ValueError instead of AssertionError", Kind.EVOLUTION),
        ("click-default-group>=1.2.3", Kind.EVOLUTION),
        ("Unwrap prose\n\nThe documentation style of this project is one line a paragraph.", Kind.CONVENTION),
        ("style: always use the arena allocator for headers", Kind.CONVENTION),
        ("Fix a crash when the list is empty", None),
        ("Teach the parser zones", None),
        ("Add zones\n\n* Add zones\n* Black formatting\n* revert the second because it failed", None),
        ("Add zones\n\nFixes #12\nSee https://example.org/because\nCo-authored-by: Ada <ada@example.org>", None),
        ('Reapply "Cache dates" for the parser', None),
        ('Revert "Bump mypy from 1.0 to 1.1"', None),
        ("Merge branch 'side' into main\n\nIt failed because of the parser.", None),
        ("docs: explain zones\n\nPreviously this was not explained.", None),
        ("docs: fix typo", None),
    ],
)
def test_a_commit_is_remembered_where_it_says_why(message: str, kind: Kind | None) -> None:
    paths = ["docs/a.md"] if message.startswith("docs") else ["lib/a.c"]
    verdict = judge(parse_message(message), merge=message.startswith("Merge"), paths=paths)
    assert verdict.kind is kind


@pytest.mark.parametrize(
    "message",
    [
        "wip",
        "fixup! Fix a crash",
        "v1.2.3",
        "Version 0.38.1 (#2650)",
        "Release 3.26\n\nRefs #415, #416",
        "Prepare for the next release",
        "Release notes for 0.7",
        "build(deps): bump a from 1.2 to 1.3",
        "Bump the python-packages group with 6 updates (#2948)",
        "Bump trio\n\n---\nupdated-dependencies:\n- dependency-name: trio",
        "Fix typo in docs (#2344)",
        "Ran black",
        "Applied Black, refs #445",
        "lint",
        "...",
    ],
)
def test_releases_bumps_and_formatting_are_noise(message: str) -> None:
    assert judge(parse_message(message), paths=["lib/a.c"]).noise


@pytest.mark.parametrize(
    "message", ["Add Request.relative_url", "Fix formatting of dates in the parser", "Pass the linter's exit code"]
)
def test_work_that_only_sounds_like_noise_is_found(message: str) -> None:
    assert not judge(parse_message(message), paths=["lib/a.c"]).noise


def test_the_reason_is_sentences_without_steps_code_links_and_headings() -> None:
    body = (
        "## Summary\nIt failed because the list\nwas read twice. It is short.\n\n* Add a test because of that\n  and it"
        "\n\n    raise ValueError\n\n```\nfails()\n```\n| a | b |\nSee [the issue](https://example.org/x), it is long."
        "\nhttps://example.org/because\n\nThis used to be fine."
    )
    said = prose(plain(body))
    assert said == ["It failed because the list was read twice.", "It is short.", "This used to be fine."]
    assert why(said) == " ".join(said)
    assert why(["It reads dates."]) == ""


def test_a_long_reason_keeps_the_sentences_that_give_it() -> None:
    filler = [f"Sentence {n} tells of something else at some length." for n in range(30)]
    told = why([*filler, "Before it nobody knew.", "It failed because the list was empty."])
    assert told.startswith("Sentence 0")
    assert told.endswith("Before it nobody knew. It failed because the list was empty.")
    assert len(told) <= LONGEST_REASON


def test_robots_are_not_remembered_whatever_they_write() -> None:
    message = parse_message("Fix a vulnerability in a dependency\n\n" + "It failed because of that. " * 40)
    assert judge(message, author="dependabot[bot]").noise
    assert judge(message, author="Ada").kind is Kind.FAILURE


def test_what_is_grave_weighs_more_and_what_lies_at_the_side_less() -> None:
    message = parse_message("Fix reading of dates\n\nThey were read wrong because of zones.")
    grave = parse_message("Fix use-after-free when reading dates\n\nThey were read wrong because of zones.")
    assert judge(grave, paths=["lib/a.c"]).importance > judge(message, paths=["lib/a.c"]).importance
    assert judge(message, paths=["lib/a.c"]).importance > judge(message, paths=["tests/a.c"]).importance


@pytest.mark.parametrize(
    ("subject", "title"),
    [
        ("Fix a crash (#12)", "Fix a crash"),
        ("feat(parser)!: Teach zones, closes #12 (#13)", "Teach zones"),
        (":pencil: Describe zones [skip ci]", "Describe zones"),
        ("--ignore for drop-table, refs #237", "--ignore for drop-table"),
        (".lookup() takes zones", ".lookup() takes zones"),
        ("#12", "#12"),
    ],
)
def test_a_title_has_no_numbers_and_signs(subject: str, title: str) -> None:
    assert titled(subject) == title


@given(st.lists(st.text(max_size=400), max_size=60))
def test_a_commit_touches_at_most_thirty_things(paths: list[str]) -> None:
    found = touched(paths)
    assert len(found) <= 30
    assert all(0 < len(path) <= 300 for path in found)


def test_a_subject_that_is_nearly_a_version_takes_no_longer_than_its_length() -> None:
    """Forty letters would have taken the whole daemon longer than anybody lives."""
    assert not judge(parse_message(f"1.0{'a' * 150}!"), paths=["lib/a.c"]).noise
    assert judge(parse_message("v1.0.rc1-2_final (#12)"), paths=["lib/a.c"]).noise


def test_a_line_of_nothing_but_spaces_and_a_sign_takes_no_longer_than_its_length() -> None:
    """One that took the square of it held up everything else for minutes."""
    body = "It was slow because of this.\n" + "  \xa0" * 18_000 + "!\nIt is fast now."
    assert prose(parse_message(f"Mend it\n\n{body}").body) == ["It was slow because of this.", "It is fast now."]


@pytest.mark.parametrize("run", ['"', " ", ", ", "(#", "fix "])
def test_a_title_that_ends_in_many_ways_costs_no_more_than_another(run: str) -> None:
    """One merge that a repository brought kept the daemon for minutes, and it can bring thousands."""
    long = f"ferret {run * (50_000 // len(run))}b"
    merge = parse_message(f"Merge pull request #1 from a/b\n\n{long}")
    assert len(merged_title(merge)) <= 300
    index = CommitIndex()
    index.add("1" * 40, parse_message("a b"), ["0" * 40])
    assert not index.says_no_more(merge, ["2" * 40, "3" * 40])
    assert titled("a" + " ;" * 100_000 + "b (#12)").endswith("b")
