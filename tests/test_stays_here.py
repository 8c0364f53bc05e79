"""Nothing leaves the machine, and a folder is data: the README's tour is watched call by call, by the system itself.

It runs in a hostile project, in a network namespace of its own, under strace. What is looked for is every address that
a process connects or sends to, every question for a name, and every file that is made or opened for writing.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from test_readme import TOUR

from helix.hooks import helix_hook
from helix.processes import python_command

CALLS = "connect,sendto,sendmsg,sendmmsg,openat,open,creat,mkdir,mkdirat,rename,renameat,renameat2,link,linkat,symlink"
NAMESPACE = ("unshare", "--net", "--map-root-user")
STRACE = ("strace", "-f", "-y", "-qq", "--seccomp-bpf", "-s", "4096", "-e", f"trace={CALLS}", "-e", "signal=none")

# Brings the loopback interface of the namespace up, and runs one command after the other, whatever comes of them.
DRIVER = """
import fcntl, json, socket, struct, subprocess, sys
with socket.socket() as any_socket:
    fcntl.ioctl(any_socket, 0x8914, struct.pack("16sh", b"lo", 0x1 | 0x40))
for command, said in json.load(open(sys.argv[1])):
    done = subprocess.run(command, input=said, text=True, capture_output=True)
    print(json.dumps([command, done.returncode, done.stdout, done.stderr]), flush=True)
"""
PLANTED = ("click", "helix", "json", "sitecustomize", "usercustomize", "numpy", "onnxruntime", "litellm", "dotenv")
WRITING = re.compile(r"O_WRONLY|O_RDWR|O_CREAT|O_TRUNC")
OPENED = re.compile(r'(?:openat|open|creat)\((?:\w+<([^>]*)>, )?"([^"]*)", ([^)]*)\)?')
MADE = re.compile(r'(?:mkdir|mkdirat|rename\w*|link|linkat|symlink)\(.*?(?:\w+<([^>]*)>, )?"([^"]*)"[^"]*$')
FAILED = re.compile(r"= -1 E")
ADDRESS = re.compile(
    r'sa_family=(AF_\w+)(?:[^}]*?sin6?_port=htons\((\d+)\))?(?:[^}]*?(?:inet_addr\(|inet_pton\(AF_INET6, )"([^"]+)")?'
)
LOCAL_SOCKET = re.compile(r'sun_path=@?"([^"]*)"')


@dataclass(frozen=True)
class Watched:
    """What came of the tour: what each command wrote, the lines of strace, and the folders that it was given."""

    root: Path
    runs: list[tuple[list[str], int, str, str]]
    calls: list[str]

    def folder(self, name: str) -> Path:
        return self.root / name


def helix(*words: str) -> tuple[list[str], str]:
    return python_command("helix.cli.main", *words), ""


def hook(event: str, project: Path, **more: object) -> tuple[list[str], str]:
    payload = {"hook_event_name": event, "session_id": "s1", "cwd": str(project), **more}
    script = [sys.executable, "-I", "-S", helix_hook.__file__, "--client", "claude-code", "--seconds", "20"]
    return script, json.dumps(payload)


def commands(root: Path, project: Path) -> Iterator[tuple[list[str], str]]:
    """Yield what is run: the tour, every kind of process that Helix starts, and hooks."""
    yield hook("SessionStart", project, source="startup")
    yield from (helix(*shlex.split(line)[1:]) for line in TOUR)
    yield hook("UserPromptSubmit", project, prompt="Why do the tests fail on import?")
    yield hook("PreToolUse", project, tool_name="Bash", tool_input={"command": "pytest"}, tool_use_id="t1")
    yield helix("record", "The deploy failed since the token had expired; renewing it mended that.", "--session", "s2")
    yield helix("record", "We decided to keep the queue in SQLite, as one file is enough.", "--session", "s2")
    yield helix("flush", "--wait")
    yield helix("ingest", "jsonl", "--bulk", str(root / "lines.jsonl"))
    yield helix("recall", "what number is it")
    yield helix("reflect")
    yield helix("backup", str(root / "home" / "kept.db"))
    yield helix("doctor")
    yield helix("config")
    yield helix("stop")


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory, models_path: Path) -> Watched:
    if shutil.which("strace") is None or subprocess.run([*NAMESPACE, "true"], capture_output=True).returncode != 0:
        pytest.skip("needs strace, and a system that lets anybody make a network namespace")
    root = tmp_path_factory.mktemp("watched")
    for name in ("home", "user", "temporary", "project"):
        (root / name).mkdir()
    (root / "home" / "models").symlink_to(models_path)
    project = hostile_project(root)
    record = {"resolution": "It is kept.", "kind": "fact"}
    lines = [{"id": f"l{n}", "trigger": f"The number {n} of the watched import", **record} for n in range(40)]
    (root / "lines.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    (root / "commands.json").write_text(json.dumps(list(commands(root, project))), "utf-8")
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(root / "user"),
        "TMPDIR": str(root / "temporary"),
        "HELIX_HOME": str(root / "home"),
        "HELIX_OLLAMA_URL": "http://127.0.0.1:9",  # nobody answers there: it brings LiteLLM up, with all that it does
        "BROWSER": "true",
        "LANG": "C.UTF-8",
    }
    traced = root / "calls.txt"
    driver = [sys.executable, "-I", "-c", DRIVER, str(root / "commands.json")]
    done = subprocess.run(
        [*NAMESPACE, *STRACE, "-o", str(traced), *driver],
        cwd=project,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    runs = [tuple(json.loads(line)) for line in done.stdout.splitlines()]
    return Watched(root, runs, traced.read_text("utf-8", "replace").splitlines())


def hostile_project(root: Path) -> Path:
    """Return a repository that tries to be run, to say where data goes, and to bring memories along."""
    project = root / "project"
    mark = f"open({str(root / 'ran')!r}, 'a').write(__name__)\n"
    for name in PLANTED:
        (project / f"{name}.py").write_text(mark, "utf-8")
    for variable in ("HELIX_HOME", "HELIX_DB_PATH", "HELIX_EMBEDDING_MODEL", "HELIX_OPENAI_URL", "HELIX_MODELS"):
        with (project / ".env").open("a", encoding="utf-8") as file:
            file.write(f"{variable}={root}/planted\n")
    store = project / ".helix" / "store"
    store.mkdir(parents=True)
    for name in ("click.py", "token", "hook-token", "journal.db"):
        (store / name).write_text(mark, "utf-8")
    (root / "precious").write_text("precious", "utf-8")
    (store / "logs").symlink_to(root / "precious")
    subject = "Meet a full disk before the graph"
    for words in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", subject]):
        author = ("-c", "user.name=Ada", "-c", "user.email=a@example.org")
        subprocess.run(["git", *author, *words], cwd=project, check=True)
    return project


def test_every_command_did_its_work(watched: Watched) -> None:
    """Otherwise the other tests of this file would watch nothing."""
    failed = [(command[-3:], code, out, err) for command, code, out, err in watched.runs if code != 0]
    assert not failed, "\n".join(f"{command} ended with {code}:\n{out}\n{err}" for command, code, out, err in failed)
    told = {command[5] if len(command) > 5 else "": out for command, _, out, _ in watched.runs}
    assert "hybrid" in told["status"]
    for library in ("/litellm/", "/onnxruntime/", "/kuzu/"):
        assert any(library in line for line in watched.calls), library


def test_nothing_is_sent_to_another_machine_and_no_name_is_asked_for(watched: Watched) -> None:
    assert any('"127.0.0.1"' in line for line in watched.calls), "the command asked the daemon"
    assert not list(strangers(watched.calls, watched.root))


def strangers(calls: Iterable[str], root: Path) -> Iterator[str]:
    """Yield the calls that reach for anybody but the machine's own processes, or ask for a name."""
    for line in calls:
        for family, port, host in ADDRESS.findall(line):
            if family in ("AF_INET", "AF_INET6") and (port == "53" or not host.startswith(("127.", "::1"))):
                yield line
            if family == "AF_UNIX" and not ours(LOCAL_SOCKET.search(line), root):
                yield line


def ours(found: re.Match[str] | None, root: Path) -> bool:
    """Whether a Unix socket is one of Helix, or the C library's own question for the name of the user."""
    return found is None or found[1] == "/var/run/nscd/socket" or found[1].startswith(str(root))


@pytest.mark.parametrize(
    "call",
    [
        'connect(5<socket:[1]>, {sa_family=AF_INET, sin_port=htons(53), sin_addr=inet_addr("127.0.0.53")}, 16) = 0',
        'connect(5, {sa_family=AF_INET, sin_port=htons(443), sin_addr=inet_addr("1.2.3.4")}, 16 <unfinished ...>',
        'connect(5, {sa_family=AF_INET6, sin6_port=htons(443), sin6_flowinfo=htonl(0), inet_pton(AF_INET6, "2620::1", '
        "&sin6_addr), sin6_scope_id=0}, 28) = -1 ENETUNREACH (Network is unreachable)",
        'sendto(5, "a", 1, 0, {sa_family=AF_INET, sin_port=htons(9), sin_addr=inet_addr("10.0.0.1")}, 16) = 1',
        'sendmmsg(5, [{msg_hdr={msg_name={sa_family=AF_INET, sin_port=htons(53), sin_addr=inet_addr("127.0.0.1")}, '
        'msg_namelen=16, msg_iov=[{iov_base="a", iov_len=1}], msg_iovlen=1}, msg_len=1}], 1, 0) = 1',
        'connect(5, {sa_family=AF_UNIX, sun_path="/run/systemd/resolve/io.systemd.Resolve"}, 42) = 0',
    ],
)
def test_what_reaches_for_somebody_is_seen_in_a_trace(call: str, tmp_path: Path) -> None:
    assert list(strangers([f"4711 {call}"], tmp_path))


def test_nothing_is_written_outside_of_the_home(watched: Watched) -> None:
    home, temporary = f"{watched.folder('home')}/", f"{watched.folder('temporary')}/"
    strays = set()
    for line in watched.calls:
        call = line.partition(" ")[2].lstrip()
        found = OPENED.match(call)
        if found is not None and not WRITING.search(found[3]):
            continue
        found = found or MADE.match(call)
        if found is None or FAILED.search(line):
            continue
        path = os.path.normpath(os.path.join(found[1] or "/", found[2]))  # noqa: PTH118
        if not path.startswith((home, temporary, "/dev/", "/proc/self/")) and "__pycache__" not in path:
            strays.add(path)
    assert strays <= {home.rstrip("/"), temporary.rstrip("/")}, "a folder itself, or a file without a name in it"
    left = [path for name in ("user", "temporary") for path in watched.folder(name).rglob("*")]
    assert not left, "what is in the user's home, and what is left of temporary files"


def test_nothing_of_the_project_is_run_used_or_written_through(watched: Watched) -> None:
    assert not (watched.root / "ran").exists()
    assert not (watched.root / "planted").exists()
    assert (watched.root / "precious").read_text("utf-8") == "precious"
    words = next(err for command, _, _, err in watched.runs if command[-1] == "config")
    assert f"{watched.folder('project')}/.env may not set HELIX_DB_PATH" in words
    changed = subprocess.run(["git", "status", "--porcelain"], cwd=watched.folder("project"), capture_output=True)
    assert changed.stdout == b""
