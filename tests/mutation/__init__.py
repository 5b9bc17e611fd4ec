"""Mutation testing: small changes of the numerical code, each of which some test should notice.

fairness.py    what is not changed, because no test could call the result wrong
mutants.py     what can be changed in a module, and the changed source
tree.py        copies of the tree, and processes that work in them
lines.py       which tests run which lines, recorded once
reach.py       the tests that a mutant is tried with
patch.py       a change of functions that are imported already
session.py     tests collected once, forked for each mutant
trial.py       one mutant in a process that imports the changed source
laboratory.py  tries mutants, and makes sure that what fails does so because of them
page.py        the counts in docs/appendix/reliability.md
__main__.py    `make mutation`: draw mutants, try them, count

`make mutation` runs it; docs/appendix/reliability.md says what is drawn and holds the counts. A mutant that survives is
read: write a test that fails with it and passes without, or say why there is none, as ``why`` of the survivor in
docs/measurements/mutation.json, which the page shows.

A mutant is *killed* when a test fails or takes far longer than it used to, and *survives* otherwise.
"""
