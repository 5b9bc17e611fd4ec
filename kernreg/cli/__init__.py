"""The command line, ``kernreg``.

    app.py           the group: which commands exist (imported only when called), errors, exit codes
    options.py       options that several commands share
    tables.py        columns of a table, and the cleaning that goes into the model
    files.py         files to write, which never destroy others
    output.py        where text goes
    models/          commands that work on data and models: fit, predict, evaluate, tune …
    installation/    commands about what is installed: list, info, doctor, check …

A new command is a module with a click command named ``command``, an entry point in the group ``kernreg.commands``, and
one line in `app.COMMANDS`. The command of a plugin needs the entry point only.

May import: the layers below it in docs/extend/architecture.md.
"""

from __future__ import annotations


def main() -> None:
    """Run the command line; the entry point of the ``kernreg`` script."""
    from kernreg.cli.app import application

    application()
