"""Commands about what is installed: list.py, info.py, doctor.py, check.py, cache.py, new_plugin.py.

Each is a pure function that finds out, then a command that prints. plugin_template/ is what ``new-plugin`` writes.
"""
