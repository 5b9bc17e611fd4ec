"""One block of the kernel matrix while it is in cache.

grid.py               which pairs are in a block
statistics.py         the statistic of every pair of dense samples, in one of two ways:
accumulation.py       sums over features, of differences themselves
inner_products.py     one matrix product, cancelled pairs computed again
precision.py          where float32 samples are compared in float32, and where in float64
sparse.py             the same of CSR samples, never dense
blocks.py             the statistic, then the function: any block of K
row_normalisation.py  rows divided by their sums over the reference set, safely in logarithms
weights.py            values of a row-normalised kernel whose normalisers are known
store.py              from the block to the result in memory
"""
