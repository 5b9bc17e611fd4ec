"""What engines are made of: handles of samples, row blocks, the tree of sums, the work on one chunk of rows.

handles.py     samples where an engine has put them, and arguments that are cut along with the rows
row_ranges.py  which rows have been checked
row_blocks.py  which rows are looked at together: by the shape of the matrix alone
tree.py        results concatenated, or added in a fixed binary tree
chunk.py       the work on a chunk of rows, wherever it lies
half_rows.py   symmetric matrices: each value once
derived.py     matrices, blocks and operators by `map_rows`
"""
