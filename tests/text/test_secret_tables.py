"""Secrets in tables: a cell is named by the cell before it or by the heading of its column."""

from __future__ import annotations

import pytest

from helix.text.secrets.redact import redact

SECRET = "Vq7" + "-Kastanie" + "-84zu"
KEY = "c4d1" + "09be" * 4 + "77a2"


@pytest.mark.parametrize(
    "text",
    [
        f"| Host | Login | Password |\n|:-----|:-----:|---:|\n| db1 | ops | {SECRET} |\n| db2 | ops | {SECRET} |",
        f"Host | Passwort\n--- | ---\ndb1 | `{SECRET}`",
        f"| Setting | Value | Since |\n|---|---|---|\n| SMTP_PASSWORD | **{SECRET}** | 2.1 |",
        f"| MAILER_API_KEY | {KEY} |",
        f"id | name | password\n----+------+----------\n1 | bob | {SECRET}\n(1 row)",
        f"<table><tr><th>User</th><th>Password</th></tr><tr><td>bob</td><td>{SECRET}</td></tr></table>",
        f'<tr><td class="n">api_key</td>\n  <td><code>{KEY}</code></td></tr>',
        f"<dl><dt>Password</dt><dd>{SECRET}</dd></dl>",
        f"host\tuser\tpassword\ndb1\tbob\t{SECRET}",
        f"secret_key\t{KEY}",
    ],
)
def test_a_secret_in_a_table_is_taken_out(text: str) -> None:
    left = redact(text).text
    assert SECRET not in left
    assert KEY not in left
    assert redact(left).text == left


@pytest.mark.parametrize(
    "text",
    [
        "| Option | Type | What |\n|---|---|---|\n| password | string | That of the user |\n| token | str | JWT |",
        "| DB_PASSWORD | changeme | required |",
        "| password | varchar(255) | not null |",
        "| key | value |\n|---|---|\n| p95 | 120ms |",
        "echo password | sha256sum | cut -c1-12",
        "def sign(key: Ed25519PrivateKey | str | bytes) -> str: ...",
        "        self, msg: bytes, key: Ed25519PrivateKey | Ed448PrivateKey",
        "auth: _BedrockBearerAuth | _BedrockSigV4Auth | None = None",
        ":param Ed25519PrivateKey|Ed25519PublicKey|Ed448PrivateKey|Ed448PublicKey key: which signs",
        "s3_secret_access_key|s3_access_key_id|s3_region",
        "if (token || fallback1Token2) return",
        "token\t3\t7",
        "<td>password</td><td>8 to 64 characters</td>",
    ],
)
def test_a_table_about_settings_stays(text: str) -> None:
    assert redact(text).text == text


def test_a_table_of_many_rows_is_read_once() -> None:
    text = "| password | a |\n" * 30_000 + f"| password | {SECRET} |"
    assert redact(text).text.endswith("| password | [REDACTED:password] |")
