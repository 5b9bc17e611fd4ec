"""From a plain function to machine code that stays on disk.

compile.py           the function as a closure cell of a driver, compiled once
loops.py             loops of plugins, compiled when they are first called and kept in the same way
fingerprint.py       what a function computes, in one digest
numba_locks.py       what a child finds open of Numba
numba_extensions.py  what Numba looks for before it compiles
cache.py             one folder per function, named by its fingerprint
entry_files.py       one file for each signature and CPU, sealed by a checksum
private_folders.py   folders that nobody else can write to
"""
