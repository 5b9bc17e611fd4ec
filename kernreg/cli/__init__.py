"""The command line, ``kernreg``.

    app.py           the group: which commands exist (imported only when called), errors, exit codes
    output.py        where text goes
    list.py, info.py, doctor.py, check.py, cache.py, new_plugin.py
                     one command each: a pure function that finds out, then a command that prints

A new command is a module with a click command named ``command``, and one line in `app.COMMANDS`.
"""

from __future__ import annotations


def main() -> None:
    """Run the command line; the entry point of the ``kernreg`` script."""
    from kernreg.cli.app import application

    application()
