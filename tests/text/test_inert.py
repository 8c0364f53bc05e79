"""Holds what leaves for an agent or a terminal: nothing in it that either would obey, and plain text as it was."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from helix.text.inert import inert, visible

TOKENS = (
    *("<|im_start|>", "<|im_end|>", "<|eot_id|>", "<|start_header_id|>", "<|endoftext|>", "<|system|>"),
    *("<\uff5cbegin\u2581of\u2581sentence\uff5c>", "[INST]", "[/INST]", "[SYSTEM_PROMPT]", "<<SYS>>", "<</SYS>>"),
    *("<start_of_turn>", "<end_of_turn>", "<s>", "</s>", "<bos>", "[TOOL_CALLS]"),
)
SEQUENCES = ("\x1b[2J", "\x1b[31m", "\x1b]8;;http://x\x07", "\x1b]52;c;aGk=\x07", "\x9b2J", "\x1bc", "\x1bP1$r\x1b\\")
UNSEEN = ("\u200b", "\u202e", "\u2066", "\u061c", "\ufeff", "\u00ad", "\u3164", "\ufe0f", "\U000e0041", "\U000e0101")
HOSTILE = (*TOKENS, *SEQUENCES, *UNSEEN, "<system-reminder>", "</function_results>", "\n\nHuman:", "\nAssistant :")
texts = st.lists(st.one_of(st.sampled_from(HOSTILE), st.text(max_size=6)), max_size=12).map("".join)
OPENS = re.compile(
    r"<[|\uff5c]\w|\[/?INST\]|<</?SYS|<(?:start|end)_of_turn>|</?s>|^\s*(?:Human|Assistant)[ \t]*:", re.MULTILINE
)
TAG = re.compile("[<\uff1c] ?/? ?[A-Za-z]")


def drawn_as_nothing(text: str) -> list[str]:
    arabic = {0x600, 0x601, 0x602, 0x603, 0x604, 0x605, 0x6DD, 0x890, 0x891, 0x8E2}
    hidden = ("Cc", "Cf", "Cs", "Zl", "Zp")
    drawn = {chr(code) for code in arabic} | {"\n", "\t"}
    more = {0x110BD, 0x110CD, *range(0x13430, 0x13460)}
    return [c for c in text if unicodedata.category(c) in hidden and c not in drawn and ord(c) not in more]


@given(texts)
@example("<\u200b|im_start|>")
@example("<\x1b[0m|im_start|>")
@example("\u2028\u2028Human: hello")
@example("Hum\u200ban: hello")
def test_nothing_that_leaves_for_a_terminal_is_unseen_or_obeyed(text: str) -> None:
    shown = visible(text)
    assert not drawn_as_nothing(shown)
    assert not OPENS.search(shown)
    assert visible(shown) == shown


@given(texts)
@example("<\u200bsystem-reminder>")
@example("< /function_results>")
@example("<     /   function_results>")
def test_nothing_that_leaves_for_an_agent_opens_a_tag_either(text: str) -> None:
    told = inert(text)
    assert not TAG.search(" ".join(told.split())), "one line of an agent's context has single blanks"
    assert not drawn_as_nothing(told) and not OPENS.search(told)
    assert inert(told) == told


@given(st.text(st.characters(categories=("L", "N", "P", "Zs"), exclude_characters="<[\u3164\uffa0\u115f\u1160")))
@example("vec.map(|x| x + 1) [75%] a -> b, 3 < 4, f <| x, say 'Human' twice")
@example("prüfe \u0627\u0644\u0639\u0631\u0628\u064a\u0629 und 中文")
def test_plain_text_stays_as_it_was(text: str) -> None:
    kept = re.sub(r"^([ \t]*(?:Human|Assistant))[ \t]*:", r"\1 -", text)
    assert visible(text) == "".join(c for c in kept if c not in "\u17b4\u17b5")


@pytest.mark.parametrize("token", TOKENS)
def test_a_control_token_stays_readable(token: str) -> None:
    shown = visible(f"before {token} after")
    assert token not in shown
    assert shown.startswith("before \u2039") and shown.endswith(f"{token[-2:]} after")
