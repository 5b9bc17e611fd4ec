"""``python -m kernreg.demo`` is ``kernreg demo``."""

from kernreg.demo.command import command

if __name__ == "__main__":
    command(prog_name="python -m kernreg.demo")
