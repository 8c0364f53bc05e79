"""The commands `service install`, `status` and `uninstall`: the system starts the daemon when its user logs in.

One file tells it: a unit of systemd's user manager, or an agent of launchd. Its first comment holds a digest of the
rest, so that only a file which is still as it was written is replaced or removed.
"""

from __future__ import annotations

import hashlib
import os
import plistlib
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from helix import daemon, files
from helix.cli.invocation import Invocation
from helix.cli.output import Output
from helix.errors import ConfigError, StoreLockedError, of_the_system
from helix.processes import NEUTRAL_FOLDER, environment, python_command
from helix.settings import Settings

NAME = "helix-memory"
_UNIT = f"{NAME}.service"
_STOP_S = 40  # a daemon that was told to leave is gone within 25
_MARK = "Helix wrote this; `helix service uninstall` removes it while it is unchanged. sha256:"
_MARKED = re.compile(re.escape(_MARK) + r"([0-9a-f]{64})(?: -->)?\n")
_UNFIT = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Manager:
    """What starts a user's programs: where it looks for them, and the commands that tell it of one."""

    name: str
    file: Path
    text: str
    start: tuple[tuple[str, ...], ...]
    stop: tuple[tuple[str, ...], ...]
    ask: tuple[str, ...]
    session: tuple[str, ...]
    """Succeeds where the manager of this user answers."""

    def installed(self) -> str | None:
        """Return what stands in the file; None where there is none. Raises ConfigError for what is no plain file."""
        if not self.file.is_symlink() and not self.file.exists():
            return None
        try:
            return files.read_text(self.file, errors="replace", links=False)
        except OSError as error:
            raise ConfigError(f"{self.file} is not a file of Helix: {error.strerror}", hint="move it away") from error

    def answers(self) -> bool:
        """Whether this user's service manager answers here."""
        return _run(self.session)[0]


@click.group()
def service() -> None:
    """Have the system start the daemon at login: systemd's user manager, or launchd on macOS.

    \b
    helix service install
    helix service status
    """


@service.command()
@click.option("--dry-run", is_flag=True, help="Show the file, and write nothing.")
@click.pass_obj
def install(invocation: Invocation, /, dry_run: bool) -> None:
    """Start the daemon now and at every login, and again when it fails.

    Without it, the first command or hook starts the daemon. A daemon that runs is stopped first.

    \b
    helix service install --dry-run
    helix service install
    """
    settings = invocation.settings
    manager = manager_of(settings)
    present = manager.installed()
    if present is not None and not is_own(present):
        raise ConfigError(f"{manager.file} was changed since Helix wrote it", hint="move it away, then try again")
    answers = manager.answers()
    if not dry_run:
        try:
            files.private_folder(manager.file.parent)
            files.write_private(manager.file, manager.text)
        except OSError as error:
            raise of_the_system(error) from error
        if answers:
            daemon.stop(settings)
            _tell(manager.start)
    _emit(invocation, manager, dry_run=dry_run)
    if not answers:
        invocation.say(f"warning: no {manager.name} of this user answers here, so nothing was started")
        invocation.say(f"hint: in a login session: {' && '.join(map(shlex.join, manager.start))}")


@service.command()
@click.pass_obj
def status(invocation: Invocation, /) -> None:
    """Show whether the service is installed, and whether it runs.

    \b
    helix service status
    """
    _emit(invocation, manager_of(invocation.settings), dry_run=False)


@service.command()
@click.option("--dry-run", is_flag=True, help="Show what would be removed, and remove nothing.")
@click.pass_obj
def uninstall(invocation: Invocation, /, dry_run: bool) -> None:
    """Stop the service and remove its file; all memories stay.

    \b
    helix service uninstall
    """
    manager = manager_of(invocation.settings)
    present = manager.installed()
    if present is not None and not is_own(present):
        raise ConfigError(f"{manager.file} was changed since Helix wrote it", hint="remove it yourself")
    if present is not None and not dry_run:
        if manager.answers():
            _tell(manager.stop)
        files.remove(manager.file)
    data = {"file": str(manager.file), "removed": present is not None and not dry_run}
    verb = "would be removed" if dry_run else "is removed"
    words = "no service is installed" if present is None else f"{manager.file} {verb}"
    invocation.emit({"service": data}, lambda out: out.line(words))


def manager_of(settings: Settings) -> Manager:
    """Return this system's service manager, with the file that it would be given for the store.

    Raises ConfigError where there is neither systemd nor launchd.
    """
    if sys.platform == "darwin":
        return launchd(settings)
    if sys.platform.startswith("linux") and shutil.which("systemctl"):
        return systemd(settings)
    command = shlex.join(_command(settings))
    raise ConfigError("there is neither systemd nor launchd here", hint=f"have your system run: {command}")


def systemd(settings: Settings) -> Manager:
    """Return systemd's user manager, as `helix service` uses it."""
    told = os.environ.get("XDG_CONFIG_HOME", "")
    folder = Path(told) if Path(told).is_absolute() else Path.home() / ".config"
    manage = ("systemctl", "--user")
    return Manager(
        "systemd",
        folder / "systemd" / "user" / _UNIT,
        _marked("# {}\n", _unit(settings)),
        start=((*manage, "daemon-reload"), (*manage, "enable", "--now", _UNIT)),
        stop=((*manage, "disable", "--now", _UNIT),),
        ask=(*manage, "is-active", _UNIT),
        session=(*manage, "show-environment"),
    )


def launchd(settings: Settings) -> Manager:
    """Return launchd, for this user's session, as `helix service` uses it."""
    file = Path.home() / "Library" / "LaunchAgents" / f"{NAME}.plist"
    domain = f"gui/{os.getuid()}"
    head, _, rest = _plist(settings).partition("\n")
    return Manager(
        "launchd",
        file,
        f"{head}\n{_marked('<!-- {} -->' + chr(10), rest)}",
        start=(("launchctl", "bootstrap", domain, str(file)),),
        stop=(("launchctl", "bootout", f"{domain}/{NAME}"),),
        ask=("launchctl", "print", f"{domain}/{NAME}"),
        session=("launchctl", "print", domain),
    )


def is_own(text: str) -> bool:
    """Return whether a service file is as Helix wrote it, whichever version did."""
    found = _MARKED.search(text)
    return found is not None and hashlib.sha256(text[found.end() :].encode("utf-8")).hexdigest() == found[1]


def _marked(comment: str, text: str) -> str:
    return comment.format(_MARK + hashlib.sha256(text.encode("utf-8")).hexdigest()) + text


def _command(settings: Settings) -> list[str]:
    where = ("--home", str(settings.home), "--store", str(settings.store_path))
    return python_command("helix.cli.main", *where, "serve")


def _unit(settings: Settings) -> str:
    # ":" keeps systemd from putting variables in. What needs a namespace (ProtectSystem, PrivateTmp) is left out: a
    # user's manager may not make one everywhere, and the unit would not start there.
    return f"""[Unit]
Description=Helix, a memory for coding agents
StartLimitIntervalSec=300
StartLimitBurst=5

[Service]
Type=simple
ExecStart=:{" ".join(map(_quoted, _command(settings)))}
Environment={_quoted(f"HELIX_HOME={settings.home}")}
Restart=on-failure
RestartSec=5
RestartPreventExitStatus={StoreLockedError.exit_code}
TimeoutStopSec={_STOP_S}
UMask=0077
NoNewPrivileges=yes
LockPersonality=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
SystemCallArchitectures=native

[Install]
WantedBy=default.target
"""


def _quoted(word: str) -> str:
    """Return a word of a unit's line. Raises ConfigError for control characters and what is no UTF-8."""
    if _UNFIT.search(word):
        words = f"systemd takes no path with control characters, or that is not UTF-8: {word!r}"
        raise ConfigError(words, hint="choose another folder")
    return '"' + word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%") + '"'


def _plist(settings: Settings) -> str:
    return plistlib.dumps(
        {
            "Label": NAME,
            "ProgramArguments": _command(settings),
            "EnvironmentVariables": {"HELIX_HOME": str(settings.home)},
            "RunAtLoad": True,
            "KeepAlive": {"SuccessfulExit": False},
            "ThrottleInterval": 10,
            "ExitTimeOut": _STOP_S,
            "ProcessType": "Background",
            "Umask": 0o077,
        }
    ).decode("utf-8")


def _emit(invocation: Invocation, manager: Manager, *, dry_run: bool) -> None:
    present = manager.installed()
    data: dict[str, Any] = {
        "manager": manager.name,
        "file": str(manager.file),
        "installed": present is not None,
        "current": present == manager.text,
        "running": present is not None and _run(manager.ask)[0],
        **({"text": manager.text} if dry_run else {}),
    }

    def show(out: Output) -> None:
        if dry_run:
            out.line(f"{manager.file} would hold:\n\n{manager.text}")
        elif present is None:
            out.line(f"no service is installed ({manager.file} is missing)")
        else:
            out.line(f"{manager.file}: {'the service runs' if data['running'] else 'installed, not running'}")

    invocation.emit({"service": data}, show)
    if present is not None and not data["current"] and not dry_run:
        invocation.say(
            "warning: it was written for another store or by another version; `helix service install` renews it"
        )


def _tell(commands: tuple[tuple[str, ...], ...]) -> None:
    for command in commands:
        done, said = _run(command)
        if not done:
            raise ConfigError(f"`{shlex.join(command)}` failed: {said}", hint="run it yourself, it says why")


def _run(command: tuple[str, ...]) -> tuple[bool, str]:
    """Run a command of the manager; return whether it succeeded, and the last line of what it said."""
    try:
        run = subprocess.run(
            command, cwd=NEUTRAL_FOLDER, env=environment(), capture_output=True, text=True, timeout=120, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return False, str(error)
    lines = (run.stderr or run.stdout).strip().splitlines()
    return run.returncode == 0, lines[-1] if lines else f"exit code {run.returncode}"
