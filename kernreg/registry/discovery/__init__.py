"""Who is installed.

walk.py      one walk over the metadata on ``sys.path``, for all kinds at once
metadata.py  the patient way, one distribution at a time
scan.py      the last walk, kept until forgotten
report.py    what ``kernreg doctor`` says about it
"""
