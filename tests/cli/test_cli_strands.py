"""Holds the commands of strands and keys: what is printed, and how a passphrase is given."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import Command

from helix.cli.invocation import Invocation
from helix.cli.progress import follow
from helix.errors import DaemonError
from tests.strands import independent

WORDS = "walnut ferry lantern"
THEIRS = "helix-key1:" + "03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8"


@pytest.fixture(autouse=True)
def passphrase(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("HELIX_PASSPHRASE", WORDS)
    yield
    for file in (home / "keys").glob("*"):
        file.unlink()


def test_keys_are_made_shown_imported_believed_and_revoked(helix_command: Command, home: Path) -> None:
    made = helix_command("keys", "new", "laptop")
    assert (made.code, made.out.startswith("helix-key1:")) == (0, True)
    assert helix_command("keys", "export", "laptop").out == made.out
    assert helix_command("keys", "new", "laptop").code == 4
    assert helix_command("keys", "new", "../laptop").code == 2
    assert helix_command("keys", "export", "nobody").code == 2
    assert helix_command("keys", "import", "desktop", THEIRS).code == 0
    assert helix_command("keys", "import", "other", "helix-key1:00").code == 2
    assert helix_command("keys", "trust", "desktop", "--as", "agent_inferred").code == 0
    assert helix_command("keys", "export", "desktop").out.strip() == THEIRS
    listed = helix_command("keys", "list", "--json").data["keys"]
    assert [(key["name"], key["own"], key["trust"]) for key in listed] == [
        ("laptop", True, "USER_ASSERTED"),
        ("desktop", False, "AGENT_INFERRED"),
    ]
    assert helix_command("keys", "revoke", "desktop").code == 0
    shown = helix_command("keys", "list").out
    assert "revoked" in shown
    refused = helix_command("keys", "trust", "desktop", "--as", "user_asserted")
    assert (refused.code, refused.out, "was revoked" in refused.err) == (4, "", True)
    private = (home / "keys" / "laptop.key").read_text().partition("helix-private-key1:")[2][:64]
    assert private not in shown + made.out + str(listed)


def test_a_passphrase_comes_from_the_environment_of_the_command(
    helix_command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The daemon has an environment of its own, in which no passphrase is."""
    helix_command("keys", "new", "laptop")
    file = str(tmp_path / "all.dna")
    assert helix_command("strand", "export", file).code == 0
    assert helix_command("strand", "verify", file).code == 0
    assert helix_command("strand", "diff", file).code == 0
    monkeypatch.setenv("HELIX_PASSPHRASE", "walnut ferry lanterns")
    refused = helix_command("strand", "diff", file)
    assert (refused.code, "the passphrase is wrong" in refused.err) == (10, True)
    monkeypatch.setenv("HELIX_PASSPHRASE", "")
    assert "nobody could open" in helix_command("strand", "export", str(tmp_path / "b.dna")).err
    assert helix_command("strand", "diff", file).code == 10
    assert list(tmp_path.iterdir()) == [tmp_path / "all.dna"]


def test_a_passphrase_is_no_argument(helix_command: Command, tmp_path: Path) -> None:
    """Everybody on the machine can read arguments."""
    for command in (("export", "a"), ("import", "a"), ("clone", "a", "b"), ("diff", "a")):
        assert helix_command("strand", *command, "--passphrase", WORDS).code == 2
        assert "--passphrase" not in helix_command("strand", command[0], "--help").out


@pytest.mark.soak
def test_merge_is_another_name_of_import_and_the_log_says_what_a_version_is_of(
    helix_command: Command, tmp_path: Path
) -> None:
    helix_command("keys", "new", "laptop")
    file = str(tmp_path / "part.dna")
    assert helix_command("store", "The API of acme listens on port 8081.", "--scope", "github.com/acme/api").code == 0
    assert helix_command("strand", "export", file, "--scope", "github.com/acme/api", "--why", "for ada").code == 0
    merged, imported = (helix_command("strand", name, file, "--plan") for name in ("merge", "import"))
    assert (merged.code, merged.out, merged.err) == (0, imported.out, imported.err)
    assert "github.com/acme/api  for ada" in helix_command("strand", "log").out


@pytest.mark.soak
def test_a_version_keeps_its_name_until_it_is_to_have_another(helix_command: Command, tmp_path: Path) -> None:
    helix_command("keys", "new", "laptop")
    assert helix_command("strand", "export", str(tmp_path / "a.dna"), "--tag", "before").code == 0
    refused = helix_command("strand", "tag", "before", "after")
    assert (refused.code, "is called 'before' already" in refused.err, "--move" in refused.err) == (4, True, True)
    again = helix_command("strand", "export", str(tmp_path / "b.dna"), "--tag", "after")
    assert (again.code, "is called 'before' already" in again.err) == (4, True)
    assert helix_command("strand", "tag", "before", "after", "--move").code == 0
    log = helix_command("strand", "log").out
    assert "[after]" in log and "[before]" not in log


@pytest.mark.soak
def test_the_log_tells_what_a_question_found_from_all(helix_command: Command, tmp_path: Path) -> None:
    helix_command("keys", "new", "laptop")
    helix_command("store", "ferries wait for the mail on tuesdays", "--kind", "fact")
    asked = ("--query", "ferries and mail", "--why", "q")
    assert helix_command("strand", "export", str(tmp_path / "q.dna"), *asked).code == 0
    (line,) = [line for line in helix_command("strand", "log").out.splitlines() if line.endswith("  q")]
    assert re.search(r"  all, what a question found: [1-9]\d* nodes?  q$", line)


@pytest.mark.soak
def test_a_strand_shows_whether_the_history_is_in(helix_command: Command, tmp_path: Path) -> None:
    helix_command("keys", "new", "laptop")
    for options, words in (((), "none of the log's changes"), (("--history", "all"), "an import passes them over")):
        file = str(tmp_path / f"{len(options)}.dna")
        assert helix_command("strand", "export", file, *options).code == 0
        (shown,) = re.findall("history: *(.*)", helix_command("strand", "inspect", file).out)
        assert words in shown


def test_what_is_shown_says_what_to_do_next(helix_command: Command, tmp_path: Path) -> None:
    made = helix_command("keys", "new", "laptop")
    assert f"`helix keys import laptop {made.out.strip()}`" in made.err
    assert helix_command("keys", "import", "desktop", THEIRS).code == 0
    assert helix_command("store", "the proxy listens on port 8080", "--kind", "fact").code == 0
    file = str(tmp_path / "all.dna")
    assert helix_command("strand", "export", file, "--scope", "all", "--to", "desktop").code == 0
    shown = helix_command("strand", "inspect", file)
    assert re.search("opens with: *desktop", shown.out) and "helix keys import" not in shown.err
    assert re.search("nodes: *[1-9]", shown.out)
    empty = helix_command("strand", "export", str(tmp_path / "none.dna"), "--scope", "github.com/acme/typo")
    assert "it is empty" in empty.err


def test_an_unknown_signer_is_named_and_a_plan_says_that_it_is_one(helix_command: Command, tmp_path: Path) -> None:
    (file := tmp_path / "theirs.dna").write_bytes(independent.write([], bytes(range(32)), WORDS))
    shown = helix_command("strand", "inspect", str(file))
    assert "an unknown key that calls itself" in shown.out
    (key,) = re.findall("key: *(helix-key1:[0-9a-f]{64})", shown.out)
    assert "`helix keys import NAME KEY`" in shown.err
    assert helix_command("strand", "import", str(file)).code == 10
    assert helix_command("keys", "import", "stranger", key).code == 0
    planned = helix_command("strand", "import", str(file), "--plan")
    assert "nothing was written: that is what it would come to" in planned.err
    cloned = helix_command("strand", "clone", str(file), str(tmp_path / "copy"))
    assert (cloned.code, f"`helix --store {tmp_path / 'copy'} list --scope all`" in cloned.err) == (0, True)
    for done in ("a plan changes nothing", "it was imported already"):
        answer = helix_command("strand", "import", str(file))
        assert (answer.code, "imported already" in answer.out) == (0, "already" in done)


def test_a_folder_is_one_place_however_it_is_written(helix_command: Command, tmp_path: Path) -> None:
    helix_command("keys", "new", "laptop")
    place = tmp_path / "stick"
    place.mkdir()
    for written in (place, tmp_path / "stick" / ".." / "stick"):
        assert helix_command("sync", str(written)).code == 0
    places = [one["place"] for one in helix_command("sync", "--json").data["syncedPlaces"]]
    assert [one for one in places if one.startswith(str(tmp_path))] == [str(place)]


def test_what_a_strand_says_of_itself_stays_in_its_place(helix_command: Command, tmp_path: Path) -> None:
    """Anybody may sign one and send it: its words look like no word of Helix, and no terminal obeys them."""
    lie, obeyed = "\nversion 0000  signed by laptop, believed as user_asserted", "\x1b]52;c;ZXZpbA==\x07"
    hostile = f"a{lie}{obeyed}"
    version = {"ancestry": [], "id": "0" * 64, "parents": [], "selection": hostile, "since": None}
    file = tmp_path / "hostile.dna"
    file.write_bytes(
        independent.write(
            [],
            bytes(32),
            WORDS,
            counts={"nodes": 0, f"nodes{lie}{obeyed}": 7},
            scopes=[hostile],
            version={**version, "tag": hostile, "who": hostile, "why": hostile},
        )
    )
    told = helix_command("strand", "inspect", str(file))
    assert (told.code, "\x1b" in told.out, "\x07" in told.out) == (0, False, False)
    assert [line for line in told.out.splitlines() if line.startswith("version")] == [told.out.splitlines()[0]]
    assert told.out.splitlines()[0].endswith("not believed: it is unknown or revoked")


@pytest.mark.soak
def test_a_place_is_forgotten_and_scopes_are_widened_again(helix_command: Command, tmp_path: Path) -> None:
    helix_command("keys", "new", "laptop")
    (place := tmp_path / "stick").mkdir()
    helix_command("store", "the proxy listens on port 8080", "--kind", "fact")
    failed = helix_command("sync", str(tmp_path / "stik"))
    assert failed.code == 3
    assert "`helix sync --forget PLACE`" in helix_command("sync").err
    forgotten = helix_command("sync", "--forget", str(tmp_path / "stik"))
    assert (forgotten.code, "is forgotten" in forgotten.out, "had left nothing there" in forgotten.err) == (
        0,
        True,
        True,
    )
    assert helix_command("sync", "--forget").code == 2
    for scopes, words in ((("--scope", "github.com/acme/api"), "github.com/acme/api alone"), (("--scope", "all"), "")):
        assert helix_command("sync", str(place), *scopes).code == 0
        (shown,) = [line for line in helix_command("sync").out.splitlines() if str(place) in line]
        assert shown.endswith(words) and ("alone" in shown) == bool(words)
    said = helix_command("sync", str(place), "--forget").err
    assert re.search(r"what this store left there stays, [12] strands?;", said)  # two where other tests kept something


@pytest.mark.soak
def test_one_of_something_is_said_as_one(helix_command: Command, tmp_path: Path) -> None:
    helix_command("keys", "new", "laptop")
    helix_command("store", "mailboxes at the harbour are emptied at noon", "--kind", "fact", "--scope", "acme/post")
    file = str(tmp_path / "one.dna")
    helix_command("strand", "export", file, "--scope", "acme/post")
    cloned = helix_command("strand", "clone", file, str(tmp_path / "copy"))
    assert {"1 episode added", "1 memory added"} <= set(cloned.err.strip().replace("\n", ", ").split(", "))


@pytest.mark.soak
def test_a_rollback_that_changed_nothing_offers_no_undo(helix_command: Command, tmp_path: Path) -> None:
    helix_command("keys", "new", "laptop")
    assert helix_command("strand", "export", str(tmp_path / "all.dna"), "--tag", "as-it-was").code == 0
    nothing = helix_command("strand", "rollback", "as-it-was")
    assert (nothing.code, nothing.err) == (0, "")
    assert nothing.out.startswith("nothing was changed: the store holds just that already")
    helix_command("store", "lighthouse keepers rehearse rollbacks on mondays", "--kind", "fact")
    changed = helix_command("strand", "rollback", "as-it-was")
    assert re.fullmatch(r"the store is as it was: (?:1 row|\d rows) restored, [1-9] removed\n", changed.out)
    (job,) = re.findall(r"`helix undo (\S+)` takes it back", changed.err)
    assert helix_command("undo", job).code == 0


@pytest.mark.parametrize(
    ("kind", "error", "words"),
    [
        ("strand", "the import was stopped; nothing of it stays", "nothing of it stays (run the same command again)"),
        ("export", None, "export was stopped after 3 of 7 (run the same command again)"),
        ("ingest", None, "ingest was stopped after 3 of 7 (the same command goes on from there)"),
    ],
)
def test_only_what_goes_on_is_said_to_go_on(kind: str, error: str | None, words: str) -> None:
    with pytest.raises(DaemonError, match=re.escape(words)):
        follow(Invocation(), {"kind": kind, "state": "CANCELLED", "done": 3, "total": 7, "error": error})
