"""Evidence: what the end of a command line says of the work, and what it does not."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helix.command_outcome.command_evidence import classify, verification_of
from helix.command_outcome.command_run import CommandRun
from helix.command_outcome.exit_status import parse, words_of
from helix.command_outcome.test_counts import counts_of
from helix.model.evidence import Evidence, EvidenceKind, Verification
from helix.text.command_line.runners import work_of_line

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


def judged(command: str, status: int = 0, output: str = "", verify: str = "") -> Evidence | None:
    return classify(CommandRun(id="a", command=command, exit_status=status, output=output, at=NOON), verify)


@pytest.mark.parametrize(
    ("kind", "lines"),
    [
        (
            EvidenceKind.TEST,
            """pytest -q|python -m pytest tests|python3.11 -m unittest discover|uv run pytest
            uv run --with x pytest|tox -e py311
            nox|npx jest|npm test|npm t|npm run test:unit|yarn test|pnpm exec vitest run|bun test|node --test|deno test
            go test ./...|go test -run TestX ./pkg|cargo test|cargo nextest run|mvn -q clean verify|./mvnw test
            ./gradlew :app:test|gradle build|make check|make -j4 test|dotnet test|bundle exec rspec
            vendor/bin/phpunit|ctest --test-dir b
            .venv/bin/pytest|timeout 60 pytest|CI=1 pytest|env CI=1 pytest|sudo -u bob pytest
            coverage run -m pytest|mix test|swift test
            docker compose exec web pytest|docker compose run --rm web python manage.py test|php artisan test
            rails test|rake spec
            scripts/test|./run-tests.sh|bash ci/test.sh|pnpm --filter web test|npm -w pkg run test
            yarn workspace app test
            docker-compose run web pytest|docker run --rm -v a:/w img pytest|uv run --group dev pytest
            just test|composer test|sbt test|stack test|bazel test //...|flutter test|meson test -C build
            dune runtest""",
        ),
        (
            EvidenceKind.BUILD,
            """go build ./...|gradle build -x test|scripts/build.sh|cargo build --release|cargo check|npm run build
            mvn package|gradle assemble|make
            make all|dotnet build
            python -m build|docker build .|cmake --build build|gcc a.c -o a|javac A.java|vite build|swift build""",
        ),
        (
            EvidenceKind.LINT,
            """ruff check .|python -m mypy helix|mypy --strict x|eslint src|npx tsc --noEmit|npm run lint|make lint
            cargo clippy
            cargo fmt --check|black --check .|go vet ./...|golangci-lint run|rubocop|phpstan analyse
            shellcheck a.sh|pre-commit run -a
            prettier --check .|dotnet format --verify-no-changes|php -l a.php|terraform validate""",
        ),
        (
            None,
            """ls|cat pytest.ini|grep pytest README.md|echo npm test|git status|npm install|npm ci|cargo run test
            cargo fmt|black .
            ruff format .|make install|tox -l|/usr/bin/test -f a|./deploy.sh|make -n test|pytest --version
            pytest --collect-only|jest --listTests
            mvn test -DskipTests
            python script.py|python -c 'import pytest'|pip install pytest|docker run -it alpine test
            cargo test --no-run|vim test.py""",
        ),
    ],
)
def test_the_common_tools_are_known_by_what_they_do(kind: EvidenceKind | None, lines: str) -> None:
    for line in (one.strip() for row in lines.splitlines() for one in row.split("|")):
        part = parse(line)
        assert part is not None
        found = work_of_line(words_of(part)[0])
        assert found is kind, line


@pytest.mark.parametrize(
    ("line", "on_zero", "on_one"),
    [
        ("pytest", True, False),
        ("cd a && pytest -q", True, False),
        ("cd a; pytest -q 2>&1", True, False),
        ("(cd a; pytest)", True, False),
        ("{ pytest; } > log", True, False),
        ("npm ci && npm test", True, None),
        ("pytest && ./deploy", True, None),
        ("pytest && echo fine", True, False),
        ("set -o pipefail; pytest | tail -3", True, False),
        ("set -euo pipefail\npytest | tail\necho done", True, False),
        ("bash -o pipefail -c 'pytest | tail'", True, False),
        ("bash -ec 'pytest; ./more'", True, None),
        ("! pytest", False, True),
        ("pytest -k 'a | b'", True, False),
        ("ruff check . && pytest", True, False),
        ("pytest | tail -3", None, None),
        ("pytest 2>&1 | tee log", None, None),
        ("pytest | grep -v warning", None, None),
        ("bash -c 'pytest | tail'", None, None),
        ("pytest || true", None, None),
        ("pytest || echo failed", None, None),
        ("pytest; echo done", None, None),
        ("pytest; true", None, None),
        ("pytest\nls", None, None),
        ("pytest &", None, None),
        ("pytest && echo yes || echo no", None, None),
        ("if pytest; then echo yes; fi", None, None),
        ("for t in a b; do pytest $t; done", None, None),
        ("pytest <<EOF\nx\nEOF", None, None),
        ("pytest; exit 0", None, None),
        ("pytest | tail -5; exit ${PIPESTATUS[0]}", True, False),
        ("pytest | tail -5; exit ${PIPESTATUS[1]}", None, None),
        ("pytest -q; rc=$?; echo done; exit $rc", True, False),
        ("rc=0; pytest || rc=$?; exit $rc", True, False),
        ("pytest || rc=$?; exit $rc", None, None),
        ("pytest; rc=$?; source x; exit $rc", None, None),
        ("timeout 60 bash -c 'pytest'", True, False),
        ("sudo -u app bash -lc 'pytest; ls'", None, None),
        ("env CI=1 bash -lc 'cd a && npm test'", True, False),
        ("docker exec app bash -lc 'pytest -q'", True, False),
        ("mkdir -p x && make", True, False),
        ("mkdir x && make", True, None),
        ("rm -rf dist && npm run build", True, False),
    ],
)
def test_only_a_status_that_is_the_tests_own_counts(line: str, on_zero: bool | None, on_one: bool | None) -> None:
    for status, wanted in ((0, on_zero), (1, on_one)):
        found = judged(line, status)
        assert (found.passed if found else None) is wanted, status


@pytest.mark.parametrize(
    ("line", "output", "wanted"),
    [
        ("make build && make test", "2 failed, 3 passed in 0.1s", (EvidenceKind.TEST, False)),
        ("cargo build && cargo test", "test result: FAILED. 1 passed; 1 failed", (EvidenceKind.TEST, False)),
        ("make && ctest", "50% tests passed, 1 tests failed out of 2", (EvidenceKind.TEST, False)),
        ("tsc --noEmit && npx jest", "Tests: 1 failed, 2 passed, 3 total", (EvidenceKind.TEST, False)),
        ("tsc --noEmit && npx jest", "Found 3 errors in 2 files", (EvidenceKind.TEST, False)),
        ("npm run build && npm test", "", (EvidenceKind.TEST, False)),
        ("npm test && npm run lint", "Tests:       12 passed, 12 total", (EvidenceKind.LINT, False)),
        ("npm test && npm run build", "Tests:       12 passed, 12 total", (EvidenceKind.BUILD, False)),
        ("pytest a && pytest b", "5 passed in 0.1s", None),
        ("pytest && git commit -am x", "5 passed in 0.31s\nblack....Failed", None),
        ("npm test && git commit -am x", "Tests:  12 passed, 12 total\nnothing to commit", None),
        ("pytest && git commit -am x", "1 failed, 5 passed in 0.31s", (EvidenceKind.TEST, False)),
        ("mypy . && git commit -am x", "Found 3 errors in 2 files", None),
    ],
)
def test_of_several_commands_the_one_that_the_output_tells_of_or_else_the_last_has_failed(
    line: str, output: str, wanted: tuple[EvidenceKind, bool] | None
) -> None:
    found = judged(line, 1, output)
    assert (None if found is None else (found.kind, found.passed)) == wanted


@pytest.mark.parametrize("output", ["", "2 failed, 3 passed in 0.1s"])
def test_tests_that_pass_later_take_back_what_building_and_testing_in_one_line_left(output: str) -> None:
    failed, passed = judged("make build && make test", 2, output), judged("make test", 0)
    assert failed is not None and passed is not None
    later = [failed, replace(passed, id="b", at=NOON + timedelta(minutes=2))]
    assert verification_of(later, NOON + timedelta(minutes=1)) is Verification.PASSED
    assert verification_of([failed], NOON + timedelta(minutes=1)) is Verification.FAILED


@pytest.mark.parametrize("status", [125, 126, 127, 124, 130, 137, 143, 5, 4])
def test_a_run_that_did_not_happen_or_was_cut_short_says_nothing(status: int) -> None:
    assert judged("pytest", status) is None
    assert classify(CommandRun(command="pytest", exit_status=1, interrupted=True)) is None
    assert classify(CommandRun(command="pytest")) is None


def test_a_crash_is_a_failure_and_so_is_what_a_client_only_calls_failed() -> None:
    crashed, told = judged("pytest", 139), classify(CommandRun(command="pytest", failed=True))
    assert crashed is not None and not crashed.passed
    assert told is not None and not told.passed and told.exit_status is None


def test_a_hidden_status_never_passes_but_a_summary_that_tells_of_failures_is_believed() -> None:
    assert judged("pytest | tail", 0, "10 passed in 1.0s") is None
    failed = judged("pytest | tail", 0, "2 failed, 10 passed in 1.0s")
    assert failed is not None
    assert (failed.passed, failed.tests_passed, failed.tests_failed) == (False, 10, 2)
    assert judged("cat log | tail", 0, "2 failed, 10 passed in 1.0s") is None


@pytest.mark.parametrize(
    ("verify", "status", "output", "passed"),
    [
        ("./check.sh --all", 0, "", True),
        ("./check.sh --all", 3, "", False),
        ("! grep -q TODO src", 0, "", True),
        ("! grep -q TODO src", 1, "", False),
        ("curl -fs localhost | grep ok", 1, "", False),
        ("for t in a b; do ./run $t; done", 0, "", True),
        ("./check.sh | tail", 0, "", None),
        ("./check.sh || true", 0, "", None),
        ("pytest | tail -1", 0, "5 passed in 1s", True),
        ("pytest | tail -1", 0, "1 failed, 5 passed in 1s", False),
        ("pytest | tail -1", 0, "", None),
    ],
)
def test_a_tasks_own_verify_command_counts_whatever_it_is(
    verify: str, status: int, output: str, passed: bool | None
) -> None:
    found = judged(verify, status, output, verify)
    assert (found.passed if found else None) is passed
    assert found is None or found.verify
    moved = judged(f"cd /somewhere && {verify}", status, output, verify)
    assert moved == found or (moved is not None and found is not None and moved.passed == found.passed)


def test_a_verify_command_is_known_within_a_longer_line() -> None:
    found = judged("cd x && ./check.sh && git status", 0, "", "./check.sh")
    assert found is not None and found.verify and found.passed
    assert judged("./check.sh; git status", 0, "", "./check.sh") is None
    assert judged("./prove-it", 0, "", "./other") is None


def test_commits_that_land_and_reverts_are_evidence() -> None:
    landed = judged("git add -A && git commit -m 'x y'", 0, "[main abc1234] x y\n 1 file changed")
    assert landed is not None
    assert (landed.kind, landed.passed, landed.commit) == (EvidenceKind.COMMIT, True, "abc1234")
    assert judged("git commit -m x", 1, "nothing to commit") is None
    assert judged("git commit --dry-run", 0) is None
    both = judged("pytest && git commit -am y", 0, "3 passed in 1s\n[feat/x deadbee] y")
    assert both is not None and (both.kind, both.commit) == (EvidenceKind.TEST, "deadbee")
    taken = judged("git -C repo revert --no-edit abc1234def", 0, '[main 1234567] Revert "x y"')
    assert taken is not None
    assert (taken.kind, taken.passed, taken.commit) == (EvidenceKind.REVERT, False, "abc1234def")
    assert judged("git revert --abort", 0) is None


@pytest.mark.parametrize(
    ("output", "wanted"),
    [
        ("==== 2 failed, 10 passed, 1 skipped in 1.23s ====", (10, 2)),
        ("\x1b[31m1 failed\x1b[0m, 2 errors in 3s", (0, 3)),
        ("Ran 12 tests in 0.1s\n\nOK", (12, 0)),
        ("Ran 12 tests in 0.1s\n\nFAILED (failures=1, errors=2)", (9, 3)),
        ("Tests:       1 failed, 2 skipped, 10 passed, 13 total", (10, 1)),
        ("      Tests  1 failed | 10 passed (11)", (10, 1)),
        ("  10 passing (30ms)\n  2 failing", (10, 2)),
        ("# pass 10\n# fail 1", (10, 1)),
        ("--- PASS: TestA (0.00s)\n--- FAIL: TestB (0.00s)\nFAIL", (1, 1)),
        ("test result: ok. 10 passed; 0 failed;\ntest result: FAILED. 3 passed; 1 failed;", (13, 1)),
        ("[ERROR] Tests run: 10, Failures: 1, Errors: 1, Skipped: 0", (8, 2)),
        ("12 tests completed, 1 failed", (11, 1)),
        ("Failed!  - Failed:     1, Passed:    10, Skipped:     0, Total:    11", (10, 1)),
        ("10 examples, 1 failure", (9, 1)),
        ("10 runs, 20 assertions, 1 failures, 0 errors, 0 skips", (9, 1)),
        ("OK (10 tests, 20 assertions)", (10, 0)),
        ("Tests: 10, Assertions: 20, Failures: 1.", (9, 1)),
        ("90% tests passed, 1 tests failed out of 10", (9, 1)),
        ("10 tests, 1 failure", (9, 1)),
        ("Found 3 errors in 2 files (checked 9 source files)", (None, 3)),
        ("✖ 3 problems (2 errors, 1 warning)", (None, 2)),
        ("ok | 10 passed | 0 failed (3ms)", (10, 0)),
        ("all quiet", (None, None)),
        ("it says 3 failed somewhere in a sentence", (None, None)),
    ],
)
def test_counts_are_read_from_the_summaries_of_the_common_tools(output: str, wanted: tuple[int, int]) -> None:
    assert counts_of(f"noise\n{output}\n") == wanted


@given(st.text(max_size=200), st.integers(0, 255), st.text(max_size=200), st.text(max_size=40))
def test_no_command_line_makes_it_stumble(line: str, status: int, output: str, verify: str) -> None:
    judged(line, status, output, verify)


@given(
    st.lists(st.sampled_from(["pytest", "a", "true", "cd x", "false", "mypy"]), min_size=1, max_size=4),
    st.lists(st.sampled_from(["&&", "||", ";", "|", "&"]), min_size=3, max_size=3),
    st.dictionaries(st.sampled_from(["pytest", "a", "mypy"]), st.booleans()),
)
def test_what_is_told_of_a_line_agrees_with_running_it(
    names: list[str], joints: list[str], ends: dict[str, bool]
) -> None:
    """Against the obvious way: run the line as the shell's grammar says, and see how the command really ended."""
    line = names[0] + "".join(f" {joint} {name}" for joint, name in zip(joints, names[1:], strict=False))
    status, ran = _really(names, joints, ends)
    found = judged(line, 0 if status else 1)
    if found is None:
        return
    checks = [well for name, well in ran if name in ("pytest", "mypy")]
    assert any(checks) if found.passed else not all(checks)


def _really(names: list[str], joints: list[str], ends: dict[str, bool]) -> tuple[bool, list[tuple[str, bool]]]:
    """Run words joined by operators: pipes bind first, then `&&` and `||` from the left, then `;` and `&`."""
    fixed = {"true": True, "cd x": True, "false": False}
    ran: list[tuple[str, bool]] = []

    def run(name: str) -> bool:
        well = fixed.get(name, ends.get(name, True))
        ran.append((name, well))
        return well

    groups: list[tuple[str, list[str]]] = [("", [names[0]])]
    for joint, name in zip(joints, names[1:], strict=False):
        if joint == "|":
            groups[-1][1].append(name)
        else:
            groups.append((joint, [name]))
    status, skipping = True, False
    for place, (joint, pipe) in enumerate(groups):
        skipping = (joint == "&&" and not status) or (joint == "||" and status)
        if skipping:
            continue
        status = [run(name) for name in pipe][-1]
        following = groups[place + 1][0] if place + 1 < len(groups) else ""
        if following == "&":
            status = True
    return status, ran


def evidence(kind: EvidenceKind, passed: bool, minute: int, **more: object) -> Evidence:
    at = NOON + timedelta(minutes=minute)
    return Evidence(kind=kind, command=f"{kind} {minute}", passed=passed, id=f"{minute}", at=at, **more)  # type: ignore[arg-type]


TEST, BUILD, LINT = EvidenceKind.TEST, EvidenceKind.BUILD, EvidenceKind.LINT
COMMIT, REVERT = EvidenceKind.COMMIT, EvidenceKind.REVERT
PASSED, FAILED, NONE = Verification.PASSED, Verification.FAILED, Verification.NONE


@pytest.mark.parametrize(
    ("held", "wanted"),
    [
        ([], NONE),
        ([evidence(TEST, False, 1), evidence(TEST, True, 2)], PASSED),
        ([evidence(TEST, True, 1), evidence(TEST, False, 2)], FAILED),
        ([evidence(TEST, False, 1), evidence(BUILD, True, 2)], FAILED),
        ([evidence(TEST, True, 1), evidence(BUILD, False, 2)], FAILED),
        ([evidence(TEST, True, 1), evidence(LINT, False, 2)], PASSED),
        ([evidence(LINT, False, 1), evidence(COMMIT, True, 2)], FAILED),
        ([evidence(COMMIT, True, 1)], PASSED),
        ([evidence(TEST, False, 2), evidence(EvidenceKind.OTHER, True, 1, verify=True)], PASSED),
        ([evidence(TEST, True, 1), evidence(COMMIT, True, 2), evidence(REVERT, False, 3)], FAILED),
        ([evidence(TEST, True, 1), evidence(REVERT, False, 2), evidence(TEST, True, 3)], PASSED),
    ],
)
def test_all_the_evidence_comes_to_one_verification_in_whatever_order(
    held: list[Evidence], wanted: Verification
) -> None:
    assert {verification_of(order) for order in permutations(held)} == {wanted}


def test_what_passed_before_the_last_edit_says_nothing_of_what_it_became() -> None:
    before, after = evidence(TEST, True, 1), evidence(TEST, True, 9)
    edited = NOON + timedelta(minutes=5)
    assert verification_of([before], edited) is NONE
    assert verification_of([before, after], edited) is PASSED
    assert verification_of([evidence(TEST, False, 1)], edited) is FAILED
