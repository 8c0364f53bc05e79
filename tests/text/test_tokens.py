"""Tokens: what the lexical index sees of a text, and how the cost of a text in a prompt is estimated."""

from __future__ import annotations

import re
import sqlite3

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from helix.text.tokens import STOPWORDS, estimate_tokens, lexical_tokens, query_terms


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("src/api/routes.py", ["src_api_routes_py", "src", "api", "routes", "py"]),
        ("parseHTTPResponse", ["parsehttpresponse", "parse", "http", "response"]),
        ("snake_case_name", ["snake_case_name", "snake", "case", "name"]),
        ("kebab-case", ["kebab_case", "kebab", "case"]),
        ("numpy.linalg.norm", ["numpy_linalg_norm", "numpy", "linalg", "norm"]),
        ("C:\\src\\main.c", ["c_src_main_c", "c", "src", "main", "c"]),
        ("404", ["404"]),
        ("--dry-run", ["dry_run", "dry", "run"]),
    ],
)
def test_a_compound_gives_its_parts_and_the_whole(text: str, tokens: list[str]) -> None:
    assert lexical_tokens(text, stem=False) == tokens


@pytest.mark.parametrize("code", ["E501", "m0_50", "v2026.3", "TS2345", "ORA-00001"])
def test_codes_and_versions_are_found_as_they_are_written(code: str) -> None:
    assert re.sub(r"\W", "_", code.casefold()) in lexical_tokens(code)


def test_english_words_meet_in_their_stem_and_other_words_are_left() -> None:
    assert lexical_tokens("running tests") == lexical_tokens("run test")
    assert lexical_tokens("gelaufen Straße") == ["gelaufen", "strass"]
    assert lexical_tokens("running", stem=False) == ["running"]


@pytest.mark.parametrize(
    ("written", "asked"),
    [
        ("Café", "cafe"),
        ("\uff21\uff22\uff23", "abc"),
        ("ﬁle", "file"),
        ("STRASSE", "straße"),
        ("ΟΔΥΣΣΕΎΣ", "οδυσσεύς"),
        ("مَرْحَبًا", "مرحبا"),
    ],
)
def test_width_case_and_marks_make_no_difference(written: str, asked: str) -> None:
    assert lexical_tokens(written) == lexical_tokens(asked)


def test_scripts_without_blanks_become_pairs_of_characters() -> None:
    assert lexical_tokens("日本語") == ["日本", "本語"]
    assert lexical_tokens("가") == ["가"]
    assert lexical_tokens("設定fileを") == ["設定", "file", "を"]


def test_a_word_with_vowel_signs_stays_one_word() -> None:
    assert len(lexical_tokens("हिन्दी")) == 1


def test_kana_with_sound_marks_stay_other_letters() -> None:
    assert lexical_tokens("ガイド") != lexical_tokens("カイト")


@given(st.text())
@example("a\ud800b")
@example("\0_ __ _a_")
@example("İ" * 10)
def test_tokens_consist_of_letters_digits_and_underscores(text: str) -> None:
    for token in lexical_tokens(text):
        assert re.fullmatch(r"\w+", token)
        assert len(token) <= 120


@given(st.text())
def test_a_text_has_the_same_tokens_every_time(text: str) -> None:
    assert lexical_tokens(text) == lexical_tokens(text)


@pytest.mark.impure
@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_the_index_finds_a_text_by_each_of_its_own_terms(text: str) -> None:
    with sqlite3.connect(":memory:") as database:
        database.execute(
            "CREATE VIRTUAL TABLE t USING fts5(x, tokenize = \"unicode61 remove_diacritics 0 tokenchars '_'\")"
        )
        database.execute("INSERT INTO t VALUES (?)", (" ".join(lexical_tokens(text)),))
        for term in query_terms(text):
            assert database.execute("SELECT count(*) FROM t WHERE t MATCH ?", (f'"{term}"',)).fetchone() == (1,)
    database.close()


def test_terms_of_a_question_are_distinct_and_without_stopwords() -> None:
    assert query_terms("What is the failing test, and why is the test failing?") == ["fail", "test"]


def test_a_question_of_stopwords_keeps_them() -> None:
    assert query_terms("to be or not to be") == ["to", "be", "or", "not"]


def test_stopwords_stay_in_the_index() -> None:
    assert "the" in STOPWORDS and "the" in lexical_tokens("the gate")


def test_terms_are_limited_in_the_order_of_the_question() -> None:
    assert query_terms("alpha beta gamma delta", limit=2) == ["alpha", "beta"]


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("The quick brown fox jumps over the lazy dog.", 9, 12),
        ("def parse_response(self, data: bytes) -> Response:", 12, 20),
        ("日本語のテキスト", 8, 12),
        ("𒀀𒁀𒂀𒃀 𒄀𒅀𒆀𒇀", 20, 32),
        ("ሀሁሂሃ ᏣᎳᎩ", 15, 24),
        ("🚀🔥", 4, 8),
        ("привет мир", 4, 8),
        ("", 0, 0),
        (" \n\t ", 0, 0),
    ],
)
def test_estimates_are_near_what_a_model_counts(text: str, least: int, most: int) -> None:
    assert least <= estimate_tokens(text) <= most


@given(st.text(), st.text())
def test_an_estimate_of_two_texts_is_about_the_sum_of_both(one: str, other: str) -> None:
    assert abs(estimate_tokens(f"{one} {other}") - estimate_tokens(one) - estimate_tokens(other)) <= 1
