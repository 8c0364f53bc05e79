"""Taking Markdown and reStructuredText apart: headings, code, items, front matter."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helix.ingest.markdown import decision_of
from helix.ingest.note_kinds import kind_of, notes_of
from helix.ingest.sections import BlockKind, Section, SectionBlock, parse_markdown, parse_rst
from helix.model.memory import Kind

LINES = st.sampled_from(
    [
        *("# A", "## B ##", "C", "===", "---", "#", "Status", "## Decision", "## Context", "....", "a: b", "", " "),
        *("```", "~~~~ c", "``` a`b", "    code", "::", ".. code:: c", "<!--", "-->", "> quote", "| t |"),
        *("- item", "  - nested", "2) two", "1.", "- ```", "\t- x"),
    ]
)
TEXTS = st.one_of(st.text(), st.lists(st.one_of(LINES, st.text(max_size=12)), max_size=25).map("\n".join))


@given(TEXTS)
def test_any_text_is_a_document(text: str) -> None:
    for document in (parse_markdown(text), parse_rst(text)):
        decision_of(document, "title")
        for section in document.sections:
            assert section.blocks
            for note in notes_of(section, "title"):
                assert note.trigger.strip()


@pytest.mark.parametrize(
    "piece", [" ", "*", "[", "#", "# ", "- a ", "> ", "```\n", "- a\n\n", "don't ", "a: ", "=", "::\n "]
)
def test_a_long_note_of_one_repeated_piece_is_read_in_no_time(piece: str) -> None:
    """A pattern that backtracks would run for hours here."""
    text = piece * (30_000 // len(piece))
    for document in (parse_markdown(f"# {text}\n{text}x"), parse_rst(f"{text}x")):
        decision_of(document, "title")
        assert all(note.trigger for section in document.sections for note in notes_of(section, "title"))


@given(st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=12))
def test_no_word_is_lost_between_the_blocks(words: list[str]) -> None:
    text = "\n".join(f"- {word}" if n % 3 == 0 else "" if n % 3 == 1 else word for n, word in enumerate(words))
    expected = [word for n, word in enumerate(words) if n % 3 != 1]
    assert " ".join(block.text for s in parse_markdown(text).sections for block in s.blocks).split() == expected


def test_headings_nest_and_both_ways_to_write_them_count() -> None:
    document = parse_markdown(
        "before\n\nGuide\n=====\n\none\n\n### Flags ###\n\ntwo\n\nBuild\n---\nthree\n# C# #\nfour\n#hash\n#"
    )
    assert [(section.path, section.text) for section in document.sections] == [
        ((), "before"),
        (("Guide",), "one"),
        (("Guide", "Flags"), "two"),
        (("Guide", "Build"), "three"),
        (("C#",), "four\n#hash\n#"),
    ]


def test_nothing_in_code_is_a_heading_an_item_or_a_comment() -> None:
    text = "# Run\n\nSo:\n\n````sh\n# not a heading\n```\n- no item\n<!-- no comment -->\n````\n\nafter"
    (section,) = parse_markdown(text).sections
    assert section.blocks == (
        SectionBlock(kind=BlockKind.PARAGRAPH, text="So:"),
        SectionBlock(
            kind=BlockKind.CODE, text="# not a heading\n```\n- no item\n<!-- no comment -->", lead="So:", language="sh"
        ),
        SectionBlock(kind=BlockKind.PARAGRAPH, text="after"),
    )


def test_an_item_holds_what_is_indented_under_it() -> None:
    text = "Rules:\n\n- one\n  more\n\n  and more\n  - nested\n- [x] two\n\n3. three\n   ```\n   - code\n   ```\n\nout"
    blocks = parse_markdown(text).sections[0].blocks
    assert [(block.kind, block.text) for block in blocks] == [
        (BlockKind.PARAGRAPH, "Rules:"),
        (BlockKind.ITEM, "one\nmore\n\nand more\n- nested"),
        (BlockKind.ITEM, "two"),
        (BlockKind.ITEM, "three\n```\n- code\n```"),
        (BlockKind.PARAGRAPH, "out"),
    ]
    assert {block.lead for block in blocks if block.kind is BlockKind.ITEM} == {"Rules:"}


def test_a_year_in_running_text_begins_no_list() -> None:
    (block,) = parse_markdown("It began in\n1999. Then it ended.").sections[0].blocks
    assert block.kind is BlockKind.PARAGRAPH


def test_indented_code_is_code_and_a_rule_is_no_text() -> None:
    blocks = parse_markdown("Run:\n\n    make\n    # all\n\n---\n\n[a]: b\n\n<!-- c -->\n- one").sections[0].blocks
    assert [(block.kind, block.text, block.lead) for block in blocks] == [
        (BlockKind.PARAGRAPH, "Run:", ""),
        (BlockKind.CODE, "make\n# all", "Run:"),
        (BlockKind.PARAGRAPH, "[a]: b", ""),
        (BlockKind.ITEM, "one", "[a]: b"),
    ]


def test_the_bullets_of_plain_text_are_a_list_and_stay_in_code() -> None:
    blocks = parse_markdown("• one\n• two\n\n```\n• three").sections[0].blocks
    assert [block.text for block in blocks] == ["one", "two", "• three"]


@pytest.mark.parametrize("mark", ["> ", "- "])
def test_words_however_deep_are_not_lost(mark: str) -> None:
    (section,) = parse_markdown(f"# A\n\n{mark * 500}deep\n\nend").sections
    assert section.text.endswith("deep\n\nend")
    assert "deep" in section.blocks[0].text


def test_front_matter_is_read_lightly_and_comments_are_not_text() -> None:
    head = "---\nTitle: \"The: guide\"\ntags: [a, 'b']\nglobs:\n  - src/**\n# odd\n---\n"
    document = parse_markdown(f"{head}<!-- a\nb --> text")
    assert document.front_matter == {"title": "The: guide", "tags": ("a", "b"), "globs": ("src/**",)}
    assert [section.text for section in document.sections] == [" text"]


def test_front_matter_that_never_ends_is_text() -> None:
    assert parse_markdown("---\ntitle: x").front_matter == {}


def test_restructured_text_has_headings_by_their_order_and_literal_blocks() -> None:
    text = (
        "=====\nTitle\n=====\n\nUse::\n\n   # a comment\n   make\n\nDeep\n----\n\n"
        ".. code-block:: c\n\n   int x;\n\nend\n"
    )
    document = parse_rst(text)
    assert [section.path for section in document.sections] == [("Title",), ("Title", "Deep")]
    code = [block for section in document.sections for block in section.blocks if block.kind is BlockKind.CODE]
    assert [(block.text, block.language, block.lead) for block in code] == [
        ("# a comment\nmake", "", "Use:"),
        ("int x;", "c", ""),
    ]


def test_each_item_and_each_paragraph_is_a_memory_of_its_own_and_short_ones_stay_together() -> None:
    first = "**Writes.** Everything that changes data goes through one function, so that nothing is left half done."
    second = (
        "**Closing.** Leaving the block rolls back what is still open, on purpose, and other than the standard one."
    )
    item = "Alphas move no branch, since the manual of the stable version is built from it"
    section = Section(
        path=("Notes", "Library"),
        text="",
        blocks=(
            SectionBlock(kind=BlockKind.PARAGRAPH, text=first),
            SectionBlock(kind=BlockKind.PARAGRAPH, text=second),
            SectionBlock(kind=BlockKind.ITEM, text=item),
            SectionBlock(kind=BlockKind.ITEM, text="red, green"),
            SectionBlock(kind=BlockKind.ITEM, text="blue, white, black, grey"),
        ),
    )
    notes = list(notes_of(section, "notes"))
    assert [note.resolution for note in notes] == [first, second, item, "- red, green\n\n- blue, white, black, grey"]
    assert {note.trigger for note in notes} == {"Library"}, "the document's title is shared by all that it says"


def test_a_reason_is_looked_for_near_its_rule_alone() -> None:
    assert kind_of("Never force a push because it loses work", "") is Kind.FAILURE
    assert kind_of(f"Never force a push {'again ' * 200}because it loses work", "") is Kind.CONVENTION
