"""One block of the kernel matrix while it is in cache.

statistics.py         the statistic of every pair of dense samples: feature by feature, or by one matrix product
sparse.py             the same of CSR samples, never dense
blocks.py             the statistic, then the function: any block of K
row_normalisation.py  rows divided by their sums over the reference set, safely in logarithms
store.py              from the block to the result in memory
"""
