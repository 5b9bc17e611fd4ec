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

    installations.py, plugins.py, plugin_checks.py, models.py, samples.py, solvers.py, hostile.py, oracles.py
                    what attacks are made of: plugins, model files, samples, bad values, right answers

`make torture` runs all of it, `python -m torture --help` (in tests/) says what else there is.

To add an attack, write two functions in a module of `attacks/` that fits, or in a new one, and list an `Attack` in its
``ATTACKS``; it is found there::

    def cases(rng):
        while True:  # plain data that JSON can hold, made from rng alone: the same seed gives the same cases
            yield {"n": rng.randrange(1, 50), "seed": rng.randrange(1 << 32)}


    def run(case):
        import kernreg as kr  # in the worker; what is raised here is a violation, and so are crashes and hangs

        X = np.random.default_rng(case["seed"]).normal(size=(case["n"], 3))
        found, expected = kr.make_kernel("rbf(sigma=2.0)")(X), naive(X)  # an oracle that shares no code
        if np.abs(found - expected).max() > 1e-12:
            return f"wrong value: {np.abs(found - expected).max():.3g}"  # "kind: details"
        return None


    ATTACKS = [Attack("rbf-values", "random samples: equal to the formula", cases, run, full=2000, ci=50)]

1. Try it: ``make torture ATTACKS=rbf-values BUDGET=60s``. `attack.py` explains the limits: time, memory, workers.
2. Make sure that it can fail: put the fault it looks for into kernreg, and see it found. A case that fails is made
   smaller and written to torture_output/failures; ``make torture REPLAY=file`` runs it again.
3. Choose ``ci`` so that it takes seconds: that part runs on every change. ``full`` is for an hour of all attacks.
4. What it finds is mended with an ordinary test of the smallest case. The attack stays, and looks for more.
"""
