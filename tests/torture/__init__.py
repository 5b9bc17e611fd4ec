"""The torture suite: random attacks on everything, for an hour, and a few minutes of it on every change.

    attack.py       what an attack is, and which there are
    worker.py       the process that cases run in, under limits of memory and time
    process.py      the other end of it: asks for verdicts, and turns crashes and hangs into them
    runner.py       runs an attack, by number of cases or by the clock
    oracles.py      kernels by their formulas; trees.py: kernels made of kernels, with what rounding may change
    memory.py       how much memory a call takes at most
    shrinking.py    makes a failing case smaller
    failures.py     failing cases as files, which replay
    record.py       the table of docs/appendix/reliability.md, and the numbers behind it
    attacks/        the attacks, a module for each target

`make torture` runs all of it, `python -m torture --help` (in tests/) says what else there is.
"""
