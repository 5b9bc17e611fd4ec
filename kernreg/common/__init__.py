"""What every room uses and no room owns. Imports nothing of kernreg but `kernreg.config` and `kernreg.errors`.

atomic.py    replace a file whole or not at all
progress.py  progress bars: on a terminal only, or as the configuration says
reports.py   what solvers did, in a few lines
sizes.py     numbers of bytes for people
"""
