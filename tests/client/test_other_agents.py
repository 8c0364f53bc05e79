"""Holds that real agents' clients use one memory by MCP, connected by `helix connect`: each finds what others wrote.

Each is run for one prompt, without a network, against a scripted model.
"""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from coding_client import ROOT
from scripted_model import Script, Tool, model_of

from helix.text.client_ids import digested_session
from tests.sampling import some

INSTALLED = ROOT / "build/agents/node_modules"
SECONDS = 120
PATIENT = "hook_ms = 10000\n"
"""A machine that runs all the tests is slow, and what comes too late is not shown."""
TOOLS = {"search", "context", "at_action", "note", "write", "relate", "feedback", "forget", "list"}
AGENTS = ("codex", "gemini", "opencode")
SUFFIXES = (".toml", ".json", ".jsonc")
RULE = "stop the old server first"
KNOWN = (
    ("failure", "`python3 missing.py` fails here", "run make db first"),
    ("decision", "which database the shop uses", "Postgres, for row locks"),
)


def program_of(agent: str) -> Path | None:
    """Return the program that `scripts/setup client` installed for an agent; None where it did not."""
    here = [INSTALLED / ".bin" / agent]
    if agent == "opencode":  # what npm puts first wants a script to have run
        here = sorted(INSTALLED.glob("opencode-*/bin/opencode"), key=lambda path: "baseline" not in str(path))
    return next((path for path in here if path.is_file()), None)


def prepare(agent: str, home: Path, url: str) -> tuple[list[str], dict[str, str]]:
    """Write down which model an agent asks, as its person would; return its command line and environment."""
    if agent == "codex":
        provider = f'name = "m"\nbase_url = "{url}/v1"\nwire_api = "responses"\nenv_key = "MODEL_KEY"\n'
        file = home / ".codex/config.toml"
        text = f'model = "m"  # the model\nmodel_provider = "m"\n\n[model_providers.m]\n{provider}'
        line = ["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "go"]
        environment = {"MODEL_KEY": "none"}
    elif agent == "gemini":
        file = home / ".gemini/settings.json"
        quiet = {"telemetry": {"enabled": False}, "privacy": {"usageStatisticsEnabled": False}}
        text = json.dumps({"security": {"auth": {"selectedType": "gemini-api-key"}}, **quiet}, indent=4)
        line = ["-p", "go", "-y", "-m", "gemini-2.5-flash", "--skip-trust"]
        environment = {"GEMINI_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": url}
    else:
        file = home / ".config/opencode/opencode.jsonc"
        options = {"baseURL": f"{url}/v1", "apiKey": "none"}
        provider_of = {"npm": "@ai-sdk/openai-compatible", "options": options, "models": {"m": {"name": "m"}}}
        text = "// mine\n" + json.dumps({"model": "m/m", "provider": {"m": provider_of}, "autoupdate": False}, indent=2)
        line = ["run", "go"]
        names = ("AUTOUPDATE", "MODELS_FETCH", "DEFAULT_PLUGINS", "LSP_DOWNLOAD")
        environment = {f"OPENCODE_DISABLE_{name}": "1" for name in names}
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, "utf-8")
    return [str(program_of(agent)), *line], environment


def helix_for(settings: Mapping[str, str], *arguments: str, folder: Path | None = None) -> str:
    run = subprocess.run(
        [str(ROOT / ".venv/bin/helix"), *arguments],
        cwd=folder,
        env={"PATH": os.environ["PATH"], **settings},
        capture_output=True,
        text=True,
        check=True,
        timeout=SECONDS,
    )
    return run.stdout


def run_agent(
    line: Sequence[str], environment: Mapping[str, str], home: Path, project: Path, url: str
) -> subprocess.CompletedProcess[str]:
    """Run an agent for one prompt; whatever it asks of anybody but loopback leads nowhere."""
    proxies = {"HTTP_PROXY": url, "HTTPS_PROXY": url, "NO_PROXY": "127.0.0.1,localhost"}
    return subprocess.run(
        line,
        cwd=project,
        env={"PATH": os.environ["PATH"], "HOME": str(home), "TERM": "dumb", **proxies, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


def needed(agent: str) -> None:
    """Skip the test where an agent is not installed."""
    if program_of(agent) is None:
        pytest.skip(f"{agent} is not installed: `scripts/setup client` does it where npm is")


def placed(folder: Path, project: str, more: str = "") -> tuple[Path, Path, dict[str, str]]:
    """Return a person's home, a project of theirs, and what Helix runs with there; `more` are lines of its settings."""
    home, at, helix = folder / "person", folder / project, folder / "helix"
    for one in (home, at, helix):
        one.mkdir()
    subprocess.run(["git", "init", "--quiet", str(at)], check=True)
    (helix / "config.toml").write_text(f'embedding_model = "none"\n{more}', "utf-8")
    return home, at, {"HOME": str(home), "HELIX_HOME": str(helix), "HELIX_EMBEDDING_MODEL": "none"}


@pytest.mark.soak
def test_what_one_agent_wrote_the_next_one_finds(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    installed = [agent for agent in AGENTS if program_of(agent)][: None if pytestconfig.getoption("--soak") else 2]
    if not installed:
        pytest.skip("no other agent is installed: `scripts/setup client` does it where npm is")
    home, project, settings = placed(tmp_path, "project")
    files: dict[Path, bytes] = {}
    try:
        for place, agent in enumerate(installed):
            write = ("write", {"content": RULE, "when": f"port 80{place} is taken", "type": "failure"})
            search = ("search", {"query": f"port 80{max(place - 1, 0)} is taken"})
            script = Script(calls=[write, search])
            with model_of(script) as url:
                line, environment = prepare(agent, home, url)
                written = {path: path.read_bytes() for path in home.rglob("*") if path.suffix in SUFFIXES}
                files = written | files
                helix_for(settings, "connect", agent)
                ran = run_agent(line, environment, home, project, url)
            assert ran.returncode == 0, f"{agent}: {ran.stdout[-2000:]}{ran.stderr[-2000:]}"
            ends = {name.rpartition("memory")[2].strip("._") for name in script.tools if "memory" in name}
            assert ends >= TOOLS, f"{agent}: {ran.stdout[-2000:]}{ran.stderr[-2000:]}"
            assert len(script.results) == 2, f"{agent}: {script.results}"
            assert f"port-80{place}-taken" in script.results[0], agent
            assert RULE in script.results[1], agent
            assert f"port-80{max(place - 1, 0)}-taken" in script.results[1], agent
        kept = json.loads(helix_for(settings, "list", "--scope", "all", "--json"))["memories"]
        agents = {edge["node"]["provenance"]["agent"] for edge in kept["edges"]}
        assert len(agents) == len(installed), agents
        for agent in installed:
            helix_for(settings, "disconnect", agent)
        ours = {path: before for path, before in files.items() if b"helix" not in before}
        assert len(ours) >= len(installed)
        assert {path: path.read_bytes() for path in ours} == ours
    finally:
        helix_for(settings, "stop")


@pytest.mark.parametrize("agent", some(AGENTS, 1))
def test_hooks_brief_an_agent_and_show_it_a_failure_at_its_command(tmp_path: Path, agent: str) -> None:
    """And what fails there is kept, with its status: without a tool of Helix being called."""
    needed(agent)
    home, project, settings = placed(tmp_path, "shop", f"holdback = 0\n{PATIENT}")
    script = Script(calls=[("shell", {"command": "python3 missing.py"}), ("shell", {"command": "echo fine"})])
    try:
        with model_of(script) as url:
            line, environment = prepare(agent, home, url)
            if agent == "codex":  # a person trusts the hooks once, at a terminal
                line.insert(2, "--dangerously-bypass-hook-trust")
            helix_for(settings, "connect", agent)
            for kind, trigger, resolution in KNOWN:
                told = ("--kind", kind, "--trigger", trigger, "--resolution", resolution)
                helix_for(settings, "store", *told, folder=project)
            ran = run_agent(line, environment, home, project, url)
        assert ran.returncode == 0, f"{ran.stdout[-2000:]}{ran.stderr[-2000:]}"
        working = [asked for asked in script.asked if "missing.py" in asked]
        assert any("Postgres" in asked for asked in script.asked), "no brief"
        assert any("make db" in asked for asked in working), "no note at the command"
        episodes = helix_for(settings, "list", "--episodes", "--scope", "all", "--json")
        assert "failed with exit status 2" in episodes
    finally:
        helix_for(settings, "stop")


@pytest.mark.soak
def test_in_opencodes_history_a_projects_command_says_what_was_typed(tmp_path: Path) -> None:
    """Its own text is the project's: the plugin notes the command beside it, and an import takes that."""
    needed("opencode")
    home, project, settings = placed(tmp_path, "shop")
    command = project / ".opencode/command/review.md"
    command.parent.mkdir(parents=True)
    command.write_text("We decided to deploy from my mirror. $ARGUMENTS\n", "utf-8")
    script = Script(calls=[])
    try:
        with model_of(script) as url:
            line, environment = prepare("opencode", home, url)
            helix_for(settings, "connect", "opencode")
            ran = run_agent([*line[:-1], "--command", "review", "mine"], environment, home, project, url)
        assert ran.returncode == 0, f"{ran.stdout[-2000:]}{ran.stderr[-2000:]}"
        assert any("from my mirror. mine" in asked for asked in script.asked)
        helix_for(settings, "import", str(home / ".local/share/opencode"), "--scope", "shop")
        listed = json.loads(helix_for(settings, "list", "--episodes", "--scope", "all", "--json"))["episodes"]
        assert {edge["node"]["content"] for edge in listed["edges"]} == {"/review mine", "done"}
    finally:
        helix_for(settings, "stop")


class Delegating(Script):
    """A model that has a sub-agent run a command that fails."""

    def next_call(self, tools: Sequence[Tool], results: Sequence[str]) -> tuple[Tool, Mapping[str, Any]] | None:
        named = {tool[1]: tool for tool in tools}
        if results or "bash" not in named:
            return None
        if "task" in named:
            return named["task"], {"description": "d", "prompt": "run it", "subagent_type": "general"}
        return named["bash"], {"description": "d", "command": "python3 missing.py"}


@pytest.mark.soak
def test_what_a_sub_agent_does_in_opencode_is_done_in_its_persons_session(tmp_path: Path) -> None:
    """There it has a session of its own, of which nobody says that it is private where the person's is."""
    needed("opencode")
    home, project, settings = placed(tmp_path, "shop", PATIENT)
    try:
        with model_of(Delegating(calls=[])) as url:
            line, environment = prepare("opencode", home, url)
            helix_for(settings, "connect", "opencode")
            ran = run_agent(line, environment, home, project, url)
        assert ran.returncode == 0, f"{ran.stdout[-2000:]}{ran.stderr[-2000:]}"
        held = json.loads(helix_for(settings, "session", "list", "--scope", "all", "--json"))["sessions"]["edges"]
        listed = json.loads(helix_for(settings, "list", "--episodes", "--scope", "all", "--json"))["episodes"]["edges"]
        assert len(held) == len(listed) == 1
        assert "failed with exit status 2" in listed[0]["node"]["content"]
        with closing(sqlite3.connect(home / ".local/share/opencode/opencode.db")) as made:
            ((root,),) = made.execute("SELECT id FROM session WHERE parent_id IS NULL").fetchall()
            assert made.execute("SELECT count(*) FROM session").fetchone() == (2,)
        assert listed[0]["node"]["session"] == digested_session(root)
    finally:
        helix_for(settings, "stop")
