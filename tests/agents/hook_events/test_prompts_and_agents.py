"""What a person's prompt brings, and what agents of any name are given; nothing that the client has read already."""

from __future__ import annotations

from pathlib import Path

import pytest

from helix import settings as configuration
from helix.agents.context.brief import brief
from helix.agents.context.loaded import loaded_by
from helix.agents.tasks.board import SESSION_KEY, injections, task_id
from helix.identity import folder_identity
from helix.memory.remember.request import StoreRequest
from helix.model.memory import Kind
from helix.model.task import PROMPT, RECALL
from helix.operations import ingest, memories
from helix.providers.fakes import HashEmbedder
from helix.service import Helix
from helix.text.cleaning import slug
from tests.agents.hook_events.agent_client import AgentSession
from tests.waiting import UNHURRIED, finished

RULE = "Amounts of money are integers of cents, never floats of euros"
ASKED = "Show amounts of money in cents as integers and not as floats of euros"
OTHER = "Rewrite the search page for customers with filters, sorting and paging"


def keep(session: AgentSession, resolution: str, kind: Kind = Kind.CONVENTION, trigger: str = "rule") -> None:
    scope = folder_identity(session.project).scope
    memories.store(session.helix, StoreRequest(trigger=trigger, resolution=resolution, kind=kind.value, scope=scope))


def prompt(session: AgentSession, text: str) -> str:
    return str(session.tell("UserPromptSubmit", prompt=text).get("additionalContext", ""))


def shown(session: AgentSession) -> list[tuple[str, str]]:
    task = task_id(folder_identity(session.project).scope, session.name, SESSION_KEY)
    return [(one.arm, one.memory_id) for one in injections(session.settled().store.index, task)]


@pytest.fixture
def quiet(tmp_path: Path, project: Path) -> AgentSession:
    """A session of a service that briefs nobody, so that prompts alone bring anything."""
    given = {"home": tmp_path / "quiet", "holdback": 0.0, "brief_tokens": 0, "prompt_every": 2}
    service = Helix.open(configuration.load(given, environ=UNHURRIED, cwd=tmp_path), embedder=HashEmbedder())
    return AgentSession(service, project)


def test_the_first_prompt_of_a_task_brings_what_it_is_about_and_the_next_ones_nothing(quiet: AgentSession) -> None:
    with quiet.helix:
        keep(quiet, RULE)
        quiet.tell("SessionStart", source="startup")
        assert prompt(quiet, "go on") == prompt(quiet, "/compact all amounts of money in cents and euros") == ""
        told = prompt(quiet, ASKED)
        assert RULE in told
        assert prompt(quiet, ASKED) == ""
        assert [arm for arm, _ in shown(quiet)] == [PROMPT]
        keep(quiet, "The search page for customers has filters, sorting and paging from one shared table")
        assert prompt(quiet, OTHER) == "", "so soon after the first one none is looked up"
        assert prompt(quiet, ASKED) == "", "it is the task that was looked up before"
        assert "shared table" in prompt(quiet, OTHER)


def test_a_prompt_about_nothing_that_is_known_brings_nothing(quiet: AgentSession) -> None:
    with quiet.helix:
        keep(quiet, RULE)
        assert prompt(quiet, OTHER) == ""


def test_what_the_brief_has_said_is_not_said_again_with_the_prompt(session: AgentSession) -> None:
    keep(session, RULE)
    told = session.tell("SessionStart", source="startup")["additionalContext"]
    assert RULE in told
    assert prompt(session, ASKED) == ""


@pytest.mark.parametrize("name", ["Explore", "Plan", "general-purpose", "my-team:accountant"])
def test_an_agent_of_any_name_gets_what_fits_its_prompt_behind_it(session: AgentSession, name: str) -> None:
    keep(session, RULE)
    _, given = session.agent_call(ASKED, name)
    assert given["prompt"].startswith(f"{ASKED}\n\n")
    assert RULE in given["prompt"]
    assert [arm for arm, _ in shown(session)] == [RECALL]
    assert session.agent_call(f"{ASKED}\nNO_INJECT", name)[1]["prompt"] == f"{ASKED}\nNO_INJECT"
    assert session.agent_call(OTHER, name)[1]["prompt"] == OTHER


def test_prompts_and_other_agents_get_nothing_where_a_setting_says_so(tmp_path: Path, project: Path) -> None:
    given = {"home": tmp_path / "h", "holdback": 0.0, "brief_tokens": 0, "prompt_tokens": 0, "other_agents": False}
    settings = configuration.load(given, environ=UNHURRIED, cwd=tmp_path)
    with Helix.open(settings, embedder=HashEmbedder()) as service:
        session = AgentSession(service, project)
        keep(session, RULE)
        assert prompt(session, ASKED) == ""
        assert session.agent_call(ASKED, "general-purpose")[1]["prompt"] == ASKED


def test_what_the_client_has_loaded_is_not_told_again(session: AgentSession, tmp_path: Path) -> None:
    for name in ("CLAUDE.md", "NOTES.md"):
        (session.project / name).write_text(f"# Rules\n\n- {RULE}, says {name}.\n", "utf-8")
    scope = folder_identity(session.project).scope
    paths = [str(session.project / name) for name in ("CLAUDE.md", "NOTES.md")]
    job = ingest.ingest_notes(session.helix, paths, scope=scope, mine=True)
    finished(session.helix, job)
    session.helix.worker.settle()
    told = session.agent_call(ASKED, "general-purpose")[1]["prompt"]
    assert "says NOTES.md" in told and "says CLAUDE.md" not in told
    assert "says CLAUDE.md" in session.agent_call(ASKED, "Explore")[1]["prompt"], "it begins without that file"
    everything = brief(session.helix.store, scope).text
    is_loaded = loaded_by(session.helix.settings.home, "claude-code", str(session.project), session.project)
    rest = brief(session.helix.store, scope, is_loaded=is_loaded).text
    assert "says CLAUDE.md" in everything or "says NOTES.md" in everything
    assert "says CLAUDE.md" not in rest and "says NOTES.md" in rest
    elsewhere = loaded_by(session.helix.settings.home, "claude-code", str(tmp_path), session.project / "src")
    assert elsewhere is not is_loaded


def test_what_the_user_vouched_for_is_told_again_once_a_commit_has_turned_it_round(session: AgentSession) -> None:
    file = session.project / "CLAUDE.md"
    scope = folder_identity(session.project).scope
    told = []
    for rule in (RULE, f"It is not so that {RULE}"):
        file.write_text(f"# Rules\n\n- {rule}.\n", "utf-8")
        finished(session.helix, ingest.ingest_notes(session.helix, [str(file)], scope=scope, mine=rule == RULE))
        is_loaded = loaded_by(session.helix.settings.home, "claude-code", str(session.project), session.project)
        told.append(brief(session.helix.store, scope, is_loaded=is_loaded).text)
    assert RULE not in told[0]
    assert f"[you] {slug(RULE)}" in told[1]


@pytest.mark.parametrize(
    ("client", "notes", "settings", "said"),
    [
        ("claude-code", "CLAUDE.md", ".claude/settings.json", '{"claudeMdExcludes": ["**/CLAUDE.md"]}'),
        ("claude-code", "CLAUDE.md", ".claude/settings.json", '{"env": {"CLAUDE_CODE_DISABLE_CLAUDE_MDS": "1"}}'),
        ("codex", "AGENTS.md", "src/AGENTS.md", "a" * 40_000),
        ("codex", "AGENTS.md", ".codex/config.toml", "project_doc_max_bytes = 0"),
        ("gemini", "GEMINI.md", ".gemini/settings.json", '{"context": {"fileName": "OTHER.md"}}'),
        ("gemini", "GEMINI.md", ".gemini/settings.json", '{"context": {"file\\u004eame": "OTHER.md"}}'),
    ],
)
def test_notes_are_told_where_settings_choose_which_file_a_client_reads(
    session: AgentSession, client: str, notes: str, settings: str, said: str
) -> None:
    (session.project / notes).write_text(f"# Rules\n\n- {RULE}.\n", "utf-8")
    scope = folder_identity(session.project).scope
    finished(session.helix, ingest.ingest_notes(session.helix, [str(session.project / notes)], scope=scope, mine=True))
    chosen = session.project / settings
    chosen.parent.mkdir(exist_ok=True)
    told = []
    for text in ("", said):
        chosen.write_text(text, "utf-8")
        is_loaded = loaded_by(session.helix.settings.home, client, str(session.project / "src"), session.project)
        told.append(brief(session.helix.store, scope, is_loaded=is_loaded).text)
    assert RULE not in told[0]
    assert f"[you] {slug(RULE)}" in told[1]


def test_what_the_user_vouched_for_is_told_where_a_client_reads_another_file_in_its_place(
    session: AgentSession,
) -> None:
    scope = folder_identity(session.project).scope
    file = session.project / "AGENTS.md"
    file.write_text(f"# Rules\n\n- {RULE}.\n", "utf-8")
    finished(session.helix, ingest.ingest_notes(session.helix, [str(file)], scope=scope, mine=True))
    told = []
    for other in ("NOTES.md", "AGENTS.override.md"):
        file.with_name(other).write_text("# Rules\n\n- Push whenever you like.\n", "utf-8")
        is_loaded = loaded_by(session.helix.settings.home, "codex", str(session.project), session.project)
        told.append(RULE in brief(session.helix.store, scope, is_loaded=is_loaded).text)
    assert told == [False, True]


@pytest.mark.parametrize(
    "changed",
    [
        "# Rules\n\n<!--\n- {}.\n-->\n",
        "# Rules\n\nThey hold no longer.\n\n- {}.\n",
        "# Rules that were abolished: do the opposite\n\n- {}.\n",
        "# What the section below says is wrong\n\nDo the opposite.\n\n# Rules\n\n- {}.\n",
    ],
)
def test_what_the_user_vouched_for_is_told_again_once_a_commit_has_changed_what_stands_around_it(
    session: AgentSession, changed: str
) -> None:
    """A client takes comments out of the file; and what a heading says of the lines below it, no line of them tells."""
    file = session.project / "CLAUDE.md"
    scope = folder_identity(session.project).scope
    file.write_text(f"# Rules\n\n- {RULE}.\n", "utf-8")
    finished(session.helix, ingest.ingest_notes(session.helix, [str(file)], scope=scope, mine=True))

    def told() -> str:
        is_loaded = loaded_by(session.helix.settings.home, "claude-code", str(session.project), session.project)
        return brief(session.helix.store, scope, is_loaded=is_loaded).text

    assert RULE not in told()
    file.write_text(changed.format(RULE), "utf-8")
    assert f"[you] {slug(RULE)}" in told()
    finished(session.helix, ingest.ingest_notes(session.helix, [str(file)], scope=scope, mine=True))
    assert RULE not in told() or "<!--" in changed
