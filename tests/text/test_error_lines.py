"""Holds which line of an output is taken for what went wrong, and that a line which says nothing is taken for none."""

from __future__ import annotations

import pytest

from helix.text.error_lines import signature_of


@pytest.mark.parametrize(
    ("output", "signature"),
    [
        ("setup: all is there\nsetup: cannot install wheel, disk is full", "setup: cannot install wheel, disk is full"),
        (
            "setup: all is there\nsrc/a.py:91:5: ANN201 Missing type of `f`\nFound 1 error.",
            "src/a.py: ANN201 Missing type of `f`",
        ),
        ("Warning: Invalid threshold in the file\n(fail) a test\n1 fail", ""),
        ('x Some errors were emitted\nerror: script "lint" exited with code 1', ""),
        (
            '@acme/core check: /bin/bash: line 1: tsc: command not found\nerror: script "check" exited with code 127',
            "tsc: command not found",
        ),
        ("error: expect(received).toMatchObject(expected)\n\n- Expected  - 1\n+ Received  + 6", ""),
        ("error: Cannot find module 'zod'", "error: Cannot find module 'zod'"),
    ],
)
def test_what_went_wrong_is_the_line_that_says_it(output: str, signature: str) -> None:
    assert signature_of(output, failed=True) == signature
    assert signature_of(signature, failed=True) == signature, "it is found again by its own line"
