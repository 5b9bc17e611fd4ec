"""Results: every cell of a table and every part of a figure is computed once, and kept as a file.

cells.py      one result = one JSON file, written whole or not at all
execution.py  what tables and figures share: where results go, how failures and times are kept, several processes
tables.py     the cells of a table
figures.py    the parts of a figure
run.py        run: whatever is not there yet, of either
"""
