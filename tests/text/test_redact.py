"""Redaction: what is taken out, what stays, and how it behaves on any text."""

from __future__ import annotations

import base64
import gzip
import json
import random
import string
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from helix.text.redact import redact

ALNUM = string.ascii_letters + string.digits
HEX = "0123456789abcdef"


def made_of(alphabet: str, length: int, seed: int = 7) -> str:
    """Return a string as a vendor's generator makes it; no real-looking key stands in this file."""
    return "".join(random.Random(seed).choices(alphabet, k=length))


def jwt() -> str:
    def part(claims: dict[str, str]) -> str:
        return base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip("=")

    return ".".join((part({"alg": "HS256", "typ": "JWT"}), part({"sub": "4711", "name": "Ann"}), made_of(ALNUM, 43)))


TOKENS = {
    "github-token": "ghp_" + made_of(ALNUM, 36),
    "gitlab-token": "glpat-" + made_of(ALNUM, 20),
    "aws-access-key": "AKIA" + made_of(string.ascii_uppercase + "234567", 16),
    "stripe-key": "sk_live_" + made_of(ALNUM, 24),
    "slack-token": "xoxb-" + made_of("123456789", 12) + "-" + made_of("123456789", 13) + "-" + made_of(ALNUM, 24),
    "anthropic-key": "sk-ant-api03-" + made_of(ALNUM + "-_", 93) + "AA",
    "openai-key": "sk-proj-" + made_of(ALNUM, 60),
    "google-key": "AIzaSy" + made_of(ALNUM, 33),
    "huggingface-token": "hf_" + made_of(string.ascii_letters, 34),
    "pypi-token": "pypi-AgEIcHlwaS5vcmc" + made_of(ALNUM, 100),
    "vendor-token": "dop_v1_" + made_of(HEX, 64),
    "jwt": jwt(),
    "high-entropy": made_of(ALNUM, 40),
}


@pytest.mark.parametrize("kind", TOKENS)
@pytest.mark.parametrize(
    "around", ["{}", "use {} for staging", 'connect("{}")', "log: `{}`, then retry", "Schlüssel \u2013 {}\u3002"]
)
def test_a_token_is_taken_out_wherever_it_stands(kind: str, around: str) -> None:
    redaction = redact(around.format(TOKENS[kind]))
    assert redaction.text == around.format(f"[REDACTED:{kind}]")
    assert redaction.kinds == (kind,)


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("DB_PASSWORD=correcthorsebattery", "correcthorsebattery"),
        ("export API_KEY=9f8a7b6c5d4e3f2a1b0c", "9f8a7b6c5d4e3f2a1b0c"),
        ("password=hunter2", "hunter2"),
        ("my password is hunter2, mind", "hunter2"),
        ('"client_secret": "Zq8-kk2.Pp_91xx"', "Zq8-kk2.Pp_91xx"),
        ("auth_token: 9f8a7b6c5d4e3f2a1b0c9d8e", "9f8a7b6c5d4e3f2a1b0c9d8e"),
        ("<password>Zx9kk2pp</password>", "Zx9kk2pp"),
        ("mysql -u root --password=Zx9!kk2 shop", "Zx9!kk2"),
        ("- name: DEPLOY_TOKEN\n  value: k3jf8s7dh2ls9dk4", "k3jf8s7dh2ls9dk4"),
        ('passphrase = "9 correct horses, battery"', "9 correct horses, battery"),
        ("https://x.test/cb?access_token=k3jf8s7dh2ls9dk4&state=1", "k3jf8s7dh2ls9dk4"),
        ("machine git.test login ann password k3jf8s7dh", "k3jf8s7dh"),
        ("пароль: Zx9!kk2", "Zx9!kk2"),
        ("パスワードはZx9!kk2です", "Zx9!kk2"),
        ("the secret access key " + made_of(ALNUM + "+/", 40) + " of the bucket", made_of(ALNUM + "+/", 40)),
        ("api key " + made_of(HEX, 32), made_of(HEX, 32)),
        ("My API key is " + made_of(HEX, 40) + ".", made_of(HEX, 40)),
        ("client secret: " + made_of(ALNUM, 32), made_of(ALNUM, 32)),
        ("passphrase: correct horse battery staple", "correct horse battery staple"),
        ("the recovery phrase is ozone drill grab fiber curtain grace", "ozone drill grab fiber curtain grace"),
    ],
)
def test_the_value_beside_a_secret_name_is_taken_out(text: str, secret: str) -> None:
    redaction = redact(text)
    assert secret not in redaction.text
    assert redaction.text.startswith(text[: text.index(secret)])


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("postgres://app:s3cr3tpw@db.test:5432/app", "postgres://app:[REDACTED:url-password]@db.test:5432/app"),
        (
            "git clone https://ann:swordfish@git.test/x.git",
            "git clone https://ann:[REDACTED:url-password]@git.test/x.git",
        ),
        ("curl -u ann:k3j!f8s7 https://x.test", "curl -u ann:[REDACTED:password] https://x.test"),
        ("Authorization: Bearer k3jf8s7dh2ls", "Authorization: Bearer [REDACTED:auth-header]"),
        ("Authorization: Basic YW5uOmszamY4czc=", "Authorization: Basic [REDACTED:auth-header]"),
    ],
)
def test_only_the_secret_part_of_an_address_or_header_goes(text: str, kept: str) -> None:
    assert redact(text).text == kept


@pytest.mark.parametrize("name", ["RSA PRIVATE KEY", "OPENSSH PRIVATE KEY", "PGP PRIVATE KEY BLOCK", "PRIVATE KEY"])
@pytest.mark.parametrize("line_end", ["\n", "\\n", "\r\n"])
def test_a_private_key_goes_as_one_block(name: str, line_end: str) -> None:
    body = line_end.join(made_of(ALNUM + "+/", 64, seed) for seed in range(6))
    key = line_end.join((f"-----BEGIN {name}-----", body, f"-----END {name}-----"))
    assert redact(f"before\n{key}\nafter").text == "before\n[REDACTED:private-key]\nafter"


def test_a_private_key_cut_off_in_the_middle_goes_with_all_that_is_there() -> None:
    body = "\n".join(made_of(ALNUM + "+/", 64, seed) for seed in range(6))
    assert redact(f"-----BEGIN RSA PRIVATE KEY-----\n{body}").text == "[REDACTED:private-key]"


@pytest.mark.parametrize(
    "text",
    [
        "Fix 3f2a1b9 and 5eb63bbbe01eeed093cb22bb8f5acdc3e2f4a1b0, see 8a940fd55c175f7",
        "session 2f1c7b52-8d3e-4c1a-9b7f-0a1b2c3d4e5f ended after 1234567890123 ms",
        "src/api/very_long_module_name_v2/RouteRegistryFactory2.py:120 in HttpRequestHandlerV2.parseHTTPResponse2",
        "requires v2026.3.1, m0_50, py3.11-none-any and 127.0.0.1:8080",
        'integrity: "sha512-' + made_of(ALNUM + "+/", 86) + '=="',
        "sha256:" + made_of(HEX, 64) + " is the digest of the image",
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI" + made_of(ALNUM, 43) + " ann@host",
        "https://docs.test/document/d/" + made_of(ALNUM, 44) + "/edit",
        "password = get_password(user); token = tokens[0]; api_key=os.environ['KEY']",
        "PASSWORD_MIN_LENGTH=8, token_url = '/login', secret_name: 'prod/db', max_tokens=4096",
        "password: <your password>, token=$TOKEN, api_key: ${API_KEY}, secret={{ .Values.secret }}",
        "api_key=xxxxxxxxxxxxxxxx, password: ********, token = ..., secret=changeme",
        "The password must have eight characters; the token is invalid. Secret: none. Author: Ann.",
        "curl -u user:password https://x.test and https://user:password@x.test",
        "The api key must be kept for the server; api key rotation_interval_in_seconds. Access token endpoint: none.",
        "passphrase: the words that protect the key. The passphrase is never stored by anybody. Passphrase is optional",
        "the access key registration/handlers/oauth_callback_v2 is wrong, api keys 12345678901234567890123456789012",
        "-----BEGIN PUBLIC KEY-----\n" + made_of(ALNUM, 64) + "\n-----END PUBLIC KEY-----",
    ],
)
def test_what_only_looks_like_a_secret_stays(text: str) -> None:
    redaction = redact(text)
    assert redaction.text == text
    assert redaction.findings == ()


def test_findings_give_the_place_in_the_original() -> None:
    text = f"a {TOKENS['github-token']} b\npassword: hunter2 c"
    redaction = redact(text)
    found = [(finding.kind, text[finding.start : finding.end]) for finding in redaction.findings]
    assert found == [("github-token", TOKENS["github-token"]), ("password", "hunter2")]


def test_a_marker_is_no_secret_and_no_name_of_one() -> None:
    text = "[REDACTED:private-key]: hunter22 and token=[REDACTED:env-value]"
    assert redact(text).text == text


def test_overlapping_findings_become_one_of_the_most_specific_kind() -> None:
    assert redact(f"GITHUB_TOKEN={TOKENS['github-token']}").text == "GITHUB_TOKEN=[REDACTED:github-token]"


NAMES = ("password", "token=", "secret: ", "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "curl -u ")
MARKS = (
    '"',
    "'",
    "\n",
    " ",
    "://",
    "ann:k3jf8@",
    "[REDACTED:jwt]",
    "[REDACTED:",
    "Bearer ",
    "\ud800",
    "\0",
    "İ",
    "é",
    "=",
)
PIECES = st.sampled_from((*TOKENS.values(), *NAMES, *MARKS))


@given(st.one_of(st.text(), st.lists(st.one_of(PIECES, st.text(max_size=12))).map("".join)))
@example("password=\ud800\0" * 3)
@settings(max_examples=300, deadline=None)
def test_redacting_twice_changes_nothing_and_nothing_raises(text: str) -> None:
    once = redact(text)
    again = redact(once.text)
    assert again.text == once.text
    assert again.findings == ()


@given(st.lists(st.one_of(PIECES, st.text(max_size=12))).map("".join))
@settings(max_examples=200, deadline=None)
def test_findings_are_disjoint_ordered_and_say_what_the_text_became(text: str) -> None:
    redaction = redact(text)
    rebuilt, position = "", 0
    for finding in redaction.findings:
        assert position <= finding.start < finding.end <= len(text)
        rebuilt += text[position : finding.start] + f"[REDACTED:{finding.kind}]"
        position = finding.end
    assert redaction.text == rebuilt + text[position:]


HOSTILE = (
    *("eyJ", "sk-", "token=", "://a:", "-----BEGIN PRIVATE KEY-----", "password ", 'key="', "a.", "{{", "Az9"),
    *("api key ", "passphrase: a-", "passphrase is abc "),
)


@pytest.mark.parametrize("unit", HOSTILE)
def test_hostile_repetition_is_gone_through_all_the_same(unit: str) -> None:
    # A pattern that takes quadratic time would hold the suite up for minutes here.
    once = redact(unit * (200_000 // len(unit))).text
    assert redact(once).text == once


def rows_of(path: Path) -> list[dict[str, Any]]:
    raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return [json.loads(line) for line in raw.decode("utf-8").splitlines()]


def labelled(data: Path, label: str) -> list[dict[str, Any]]:
    return [row for row in rows_of(data / "secrets" / "corpus.jsonl.gz") if row["meta"]["label"] == label]


def test_recall_on_labelled_secrets_is_at_least_95_percent(evaluation_data: Path) -> None:
    rows = labelled(evaluation_data, "secret")
    taken = 0
    for row in rows:
        redaction = redact(row["text"])
        spans = row["meta"].get("spans") or []
        taken += bool(redaction.findings) and not any(span in redaction.text for span in spans)
    assert taken / len(rows) >= 0.95


def test_false_positives_on_clean_strings_are_at_most_3_percent(evaluation_data: Path) -> None:
    rows = labelled(evaluation_data, "clean")
    assert sum(bool(redact(row["text"]).findings) for row in rows) / len(rows) <= 0.03


@pytest.mark.parametrize("corpus", ["cosqa", "curl_history", "locomo"])
def test_ordinary_code_and_prose_is_left_alone(evaluation_data: Path, corpus: str) -> None:
    rows = rows_of(next(iter((evaluation_data / corpus).glob("corpus.jsonl*"))))[:2000]
    assert sum(bool(redact(row["text"]).findings) for row in rows) / len(rows) <= 0.005
