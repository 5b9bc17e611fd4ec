"""KSVD Tables 4 and 6: seconds until singular vectors are accurate enough."""

from __future__ import annotations

from typing import Any

from kernreg_papers.description import Method, Row, Table, numbers, own_column
from kernreg_papers.methods.graphs.accuracy_times import time_to_accuracy
from kernreg_papers.tables.ksvd.table1 import PAPER

_COLUMNS = "tsvd rsvd sym-nystrom nystrom"
_LABELS = ("TSVD", "RSVD", "symmetric Nyström", "asymmetric Nyström")
_COMMON: dict[str, Any] = {"components": 20, "tolerances": [0.1, 0.01], "repeats": 3}
_QUICK = {"repeats": 2}

TABLE = Table(
    name="ksvd-table4",
    title="KSVD Tables 4 and 6: time to an accuracy of singular vectors",
    paper=PAPER,
    protocol="20 singular triplets of the SNE matrix of a graph, σ = k √(n v), k = 1 (Pubmed 0.5); the kernel "
    "matrix is there already. Each solver is run with more and more effort until η is at most 0.1, and 0.01; the "
    "time of that run.",
    measures=("seconds_0.1", "seconds_0.01"),
    lower=("seconds_0.1", "seconds_0.01"),
    unmarked=("seconds_0.1", "seconds_0.01"),
    train=0.0,
    scale="none",
    trials=3,
    quick_trials=1,
    quick_samples=500,
    rows=(
        Row("cora", "cora", options={"factor": 1.0}),
        Row("citeseer", "citeseer", options={"factor": 1.0}),
        Row("pubmed", "pubmed", options={"factor": 0.5}, note="the matrix is held in single precision, 1.6 GB."),
    ),
    methods=(
        *(
            Method(
                name,
                label,
                time_to_accuracy,
                {"solver": name, **_COMMON},
                _QUICK,
                too_large=("pubmed",) if name == "sym-nystrom" else (),
            )
            for name, label in zip(_COLUMNS.split(), _LABELS, strict=True)
        ),
        own_column(
            time_to_accuracy,
            {"solver": "kernreg", **_COMMON},
            label="kernreg (exact)",
            quick=_QUICK,
            note="kernel SVD of the sparse samples; the matrix is never formed, and all kernel values are part of the "
            "time.",
        ),
    ),
    reported={
        "seconds_0.1": numbers(
            _COLUMNS, "cora .841 .274 .673 .160\nciteseer .568 .290 .214 .136\npubmed 9.223 4.577 44.914 .141"
        ),
        "seconds_0.01": numbers(
            _COLUMNS, "cora .841 .313 .681 .225\nciteseer .568 .396 .425 .239\npubmed 9.223 5.209 53.297 .590"
        ),
    },
    differences=(
        "Times of other machines: they stand beside ours to be looked at, nothing is judged.",
        "The matrix is not centred. Centred, η of vectors that are all wrong is below 0.02 on Cora and Citeseer, "
        "because η is weighted by singular values, and these are small; each cell holds it as eta_of_nothing.",
        "Symmetric Nyström is not run on Pubmed: with more and more landmarks, up to all, it had not come to its end "
        "after 12 minutes of one process.",
        "Uniform landmarks, as in the paper. TSVD is run to machine precision once.",
    ),
)
