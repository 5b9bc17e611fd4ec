"""Samples that stay where they are, on disk for example, and are read some rows at a time.

base.py   what a row source is, and what counts as one
units.py  sources that are read in pieces of their own: chunks, parts, row groups
views.py  some rows of a source, a source mapped row by row, windows of rows
"""
