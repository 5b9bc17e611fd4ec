"""How samples of different dimension come to be compared by one kernel.

fixed_maps.py        the compatibilities a0, a1, a2
learned_map.py       a3: a map learned on a downstream loss, with
heads.py               the linear heads whose loss it is
"""
