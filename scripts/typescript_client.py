"""Has GraphQL Code Generator write the operations of the TypeScript client, where npm is. `scripts/schema` runs it."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GENERATOR = ROOT / "sdk/typescript/generator"
WRITTEN = ROOT / "sdk/typescript/src/operations.ts"
_MADE_OF = (
    *(ROOT / name for name in ("tests/snapshots/schema.graphql", "queries/operations.graphql")),
    *(GENERATOR / name for name in ("codegen.json", "package-lock.json")),
)


def head() -> str:
    """Return the first line of what is written, which tells whether it is current: a digest of what it follows from."""
    digest = hashlib.sha256(b"\0".join(path.read_bytes() for path in _MADE_OF)).hexdigest()
    return f"// Written by scripts/schema from the schema and queries/operations.graphql ({digest[:16]}).\n"


def write() -> None:
    """Write it anew, unless it is current."""
    if WRITTEN.is_file() and WRITTEN.read_text("utf-8").startswith(head()):
        return
    if shutil.which("npm") is None:
        sys.exit("schema: npm is not installed, so sdk/typescript/src/operations.ts stays as it was: it is not current")
    if not (GENERATOR / "node_modules").is_dir():
        subprocess.run(["npm", "ci", "--ignore-scripts", "--silent"], cwd=GENERATOR, check=True)
    program = GENERATOR / "node_modules/.bin/graphql-codegen"
    subprocess.run([program, "--config", "codegen.json", "--silent"], cwd=GENERATOR, check=True)
    WRITTEN.write_text(head() + WRITTEN.read_text("utf-8"), "utf-8")


if __name__ == "__main__":
    write()
