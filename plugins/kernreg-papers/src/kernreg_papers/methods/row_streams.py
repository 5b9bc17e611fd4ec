"""Kernel components of a table that is never held: landmarks from a part of it, everything else in blocks."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import StandardScaler

from kernreg import make_kernel
from kernreg.solvers import AsymmetricNystroem
from kernreg_papers.data.click_logs import click_rows
from kernreg_papers.data.splits import Split
from kernreg_papers.description import Outcome


def stream(
    split: Split, *, kernel: str, components: int, landmarks: int, fitted: int, block: int, n_columns: int
) -> Outcome:
    """Find components from a part of the rows, then learn a linear classifier of the scores, block by block.

    Parameters
    ----------
    split : Split
        Samples are row numbers of generated data.
    kernel : str
        A spec. A symmetric kernel makes this kernel PCA, an asymmetric one kernel SVD.
    components, landmarks : int
    fitted : int
        Rows among which landmarks are chosen.
    block : int
        Rows that are there at once.
    n_columns : int
        Of the sparse table.
    """
    rng = np.random.default_rng(split.seed)
    part = np.sort(rng.choice(split.X_train, min(fitted, len(split.X_train)), replace=False))
    started = time.perf_counter()
    family = make_kernel(kernel)
    model = AsymmetricNystroem(
        family,
        components,
        n_landmarks=min(landmarks, len(part)),
        # Sums over landmarks instead of over all rows: other rows are then as any new sample.
        normalizers="auto" if family.symmetric else "estimate",
        random_state=split.seed,
    ).fit(click_rows(part, n_columns))
    seconds = time.perf_counter() - started
    scaler = StandardScaler().fit(model.transform(click_rows(part, n_columns)))
    head = SGDClassifier(loss="log_loss", alpha=1e-5, average=True, random_state=split.seed % 2**32)
    classes = np.unique(split.y_train)
    for places in _blocks(len(split.X_train), block):
        scores = scaler.transform(model.transform(click_rows(split.X_train[places], n_columns)))
        head.partial_fit(scores, split.y_train[places], classes=classes)
    decision = np.concatenate(
        [
            head.decision_function(scaler.transform(model.transform(click_rows(split.X_test[places], n_columns))))
            for places in _blocks(len(split.X_test), block)
        ]
    )
    return Outcome(scores={"learning_seconds": seconds}, decision=decision)


def _blocks(n: int, size: int) -> Iterator[Any]:
    return (slice(start, start + size) for start in range(0, n, size))
