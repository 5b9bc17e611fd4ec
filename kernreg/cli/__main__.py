"""``python -m kernreg.cli`` is the same as ``kernreg``."""

from kernreg.cli import main

if __name__ == "__main__":
    main()
