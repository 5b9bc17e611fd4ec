"""Some samples that stand for all.

selection.py       which samples: uniform, k-means++, entropy, leverage, pivots
pivoted_cholesky.py  randomly pivoted Cholesky: pivots, factor and what is left
pivot_choice.py      its pivots as landmarks, for every kind of kernel
features.py        Nyström features of landmarks, streamed
lowrank_systems.py LS-SVM and AsK-LS on features, with leave-one-out
small_systems.py     the systems of p unknowns that this comes to
landmark_columns.py the columns of landmarks as products and sketches, streamed
sketching.py         sparse sign sketches
whitening.py         coordinates in which the penalty of a problem on landmarks is the plain one
sketched_roots.py    coordinates in which its system is about ±1
nystrom.py         singular triplets from some rows and columns: the asymmetric Nyström method
approximation.py     from one set of landmarks
sampled_matrix.py    a kernel matrix known by some of its rows and columns, and their choice
sections.py          products with these rows and columns, normalisers exact or estimated
"""
