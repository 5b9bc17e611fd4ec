"""From a plain function to machine code that stays on disk.

compile.py  the function as a closure cell of a driver, compiled once
cache.py    one directory per function, named by a fingerprint of what it computes
"""
