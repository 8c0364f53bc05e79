"""What serves tenants, as loaded as it is when the first of them is asked for."""

from helix.api.schema import build_schema
from helix.cli import engine_commands  # noqa: F401
from helix.server import running  # noqa: F401

build_schema()
