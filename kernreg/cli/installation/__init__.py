"""Commands about what is installed: list.py, info.py, doctor.py, check.py, cache.py, new_plugin.py, plugin_index.py.

Each is a pure function that finds out, then a command that prints. badge.py writes the result of ``check``,
plugin_template/ is what ``new-plugin`` writes.
"""
