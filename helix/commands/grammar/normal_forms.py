"""Normal forms: a command line and an error in the form in which both are remembered and looked up."""

from __future__ import annotations

from helix.text.command_forms import Form, forms
from helix.text.error_lines import signature_of
from helix.text.excerpts import head

_LONGEST = 8_192


def command_of(line: str, *, folder: str = "", root: str = "") -> tuple[str, ...]:
    """Return the normal forms of a command line, redacted, the most exact first; none for what says nothing.

    The first is the one to remember: the last command of the line as a whole, without wrappers, `cd`, redirections and
    options that change only how much it says. `root` is the top of the project, from which paths are taken, and
    `folder` the one in which the line is run.
    """
    return tuple(form.text for form in command_forms(line, folder=folder, root=root))


def command_forms(line: str, *, folder: str = "", root: str = "") -> tuple[Form, ...]:
    """Return the same forms, each with how much of the command it says."""
    return forms(head(line, _LONGEST), folder=folder, root=root)


def error_of(output: str, *, failed: bool = False) -> str:
    """Return the line of an output that says what went wrong, redacted and without what differs from run to run.

    Empty where no line says it, as where it only says that something failed. `failed`: it is certain that it did.
    """
    return signature_of(output, failed=failed)
