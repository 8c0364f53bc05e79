"""A person's home folder with the settings of every client, as `helix connect` finds them."""

from __future__ import annotations

from pathlib import Path

FOREIGN = '{\n  "model": "opus"\n}\n'

SETTINGS = {
    ".config/Claude/claude_desktop_config.json": '{"mcpServers": {"other": {"command": "x"}}}',
    ".codex/config.toml": 'model = "gpt"  # mine\n\n[mcp_servers.other]\ncommand = "x"',
    ".gemini/settings.json": '{\n  // mine\n  "theme": "dark"\n}\n',
    ".config/opencode/opencode.json": '{\r\n\t"theme": "dark",\r\n}\r\n',
    ".cursor/mcp.json": "",
    ".codeium/windsurf/mcp_config.json": '\ufeff{"mcpServers": {}}',
    ".config/Code/User/mcp.json": '{ "servers": { /* none */ } }\n',
    ".config/zed/settings.json": '// Zed\n{\n  "vim_mode": true, // yes\n}\n',
    ".config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json": "{}",
    ".config/goose/config.yaml": "extensions:\n  developer:\n    enabled: true # so\nGOOSE_MODEL: x\n",
    ".continue/config.yaml": "name: mine\n",
}


def files_below(person: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in person.rglob("*") if path.is_file()}
