"""Runners: what is recognised as a test, build or lint run, and what only sounds like one."""

from __future__ import annotations

import pytest

from helix.command_outcome.exit_status import parse, words_of
from helix.model.evidence import EvidenceKind
from helix.text.command_line.runners import work_of_line, work_of_target

TEST, BUILD, LINT = EvidenceKind.TEST, EvidenceKind.BUILD, EvidenceKind.LINT

TARGETS = {
    TEST: """
        test tests t check ci test:unit unit test-billing api:test run-tests run_tests test:all check-all test:ci e2e
        integration-tests spec jest test.fast
    """,
    BUILD: "build build:api docker-build all dist compile bundle build:types build-tests build:test ci-build",
    LINT: "lint lint:fix typecheck type-check check:types types check-format format:check lint-tests test:lint style",
    None: """
        check-updates check:deps check-env health-check deploy-check test-setup clean-test ci-image test:generate
        e2e:install spec:generate test-server start:all seed:all kill:all clean:dist clean:build clean-build clean-all
        install-all run-all cleanup-all build-docs build-db types:generate test:watch build:watch test-db-up
        db:test:reset test-env test:build distclean latest attest format install deploy testdata my:test:thing run
    """,
}

LINES = {
    TEST: """
        docker compose -f dc.yml run --rm web npm test|docker compose --project-name x run -u root web npm test
        docker run --rm -v .:/w -w /w -m 2g img pytest|docker run -itu root img pytest|docker exec -e CI=1 app pytest
        podman run img pytest|podman-compose exec web pytest|kubectl exec -n ns x -c y -- pytest
        pnpm vitest run|pnpm --dir web test|pnpm -r test|py -m pytest|py -3 -m pytest|yarn jest a
        node ./node_modules/jest/bin/jest.js|node --import tsx --test a.test.ts|cross-env CI=1 jest
        corepack pnpm test|npx nx run-many --target=test|npx nx affected -t lint test|nx run web:test|lerna run test
        deno task test|hatch run test|hatch run pytest|mise run test|mise x -- npm test|conda run -n e pytest
        direnv exec . pytest|aws-vault exec dev -- npm test|nix develop -c make test|python setup.py test
        bazelisk test //...|sbt 'testOnly *Foo'|gradle integrationTest|./gradlew jvmTest|gradle connectedCheck
        ./gradlew :app:testDebugUnitTest|cargo llvm-cov|cargo tarpaulin|zig build test|tox -e py311|tox -e lint,py311
        nox -s tests-3.12|yarn workspaces foreach -A run test|dotenv -- npm test|rushx test|.\\gradlew.bat test
    """,
    BUILD: """
        docker compose build|docker compose -f a.yml build web|pnpm turbo run build|gradle compileKotlin
        ./gradlew assembleDebug|gradle testClasses|cargo c|msbuild App.sln|zig build
    """,
    LINT: """
        tox -e lint|nox -s lint|nox --session=mypy|pnpm tsc --noEmit|gradle spotlessCheck|gradle lintDebug
        gradle detekt|ruff format --check .
    """,
    None: """
        dotnet test --list-tests|phpunit --list-tests|./gradlew -m test|tox list|tox --notest|jest --clearCache
        vitest bench|go test -c|ginkgo version|ginkgo bootstrap|golangci-lint version|javac -version|gcc -v
        mypy --install-types|npm test -- --passWithNoTests|npx tsc -w|npx playwright test --ui|ruff check --exit-zero
        docker run -d img pytest|docker exec --detach app pytest|docker compose up --build test|docker run img test
        cargo nextest list|cargo llvm-cov clean|nx show project test|turbo prune test|nx generate lib test|tox -e docs
        just deploy test|hatch run docs|pnpm why jest|pnpm install|npm ci|node make.js|node server.js|gradle cleanTest
        nix develop|kubectl exec x|conda run|timeout 60|python scripts/build.py|direnv allow .|mise use node
        npm run db:test:reset|make test-db-up|./scripts/check-env.sh|./bin/test-server|./cleanup-all.sh
    """,
}


@pytest.mark.parametrize(("name", "kind"), [(name, kind) for kind, names in TARGETS.items() for name in names.split()])
def test_a_target_is_what_its_first_or_last_part_says_unless_another_part_says_otherwise(
    name: str, kind: EvidenceKind | None
) -> None:
    assert work_of_target(name) is kind


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (line.strip(), kind)
        for kind, rows in LINES.items()
        for row in rows.strip().splitlines()
        for line in row.split("|")
    ],
)
def test_a_run_is_known_behind_what_starts_it_and_what_only_talks_is_none(line: str, kind: EvidenceKind | None) -> None:
    whole = parse(line)
    assert whole is not None
    assert work_of_line(words_of(whole)[0]) is kind
