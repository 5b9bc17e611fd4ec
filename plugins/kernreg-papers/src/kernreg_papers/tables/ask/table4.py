"""ASK Table IV: LS-SVM with symmetric kernels and AsK-LS with asymmetric ones on UCI data."""

from __future__ import annotations

from kernreg_papers.description import Row, Table, by_measure
from kernreg_papers.methods.samples.kernel_ensemble import TUNED
from kernreg_papers.methods.samples.least_squares import NOTE, TL1, column

_GAMMA = [0.5, 1.0, 5.0, 10.0, 20.0, 100.0]
_WIDER = [0.01, 0.02, 0.05, 0.1, 0.2, *_GAMMA]
_SIGMA = [0.125, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0]
_FEW = {"sigma": [0.5, 1.0, 5.0]}

TABLE = Table(
    name="ask-table4",
    title="ASK Table IV: UCI data, symmetric and asymmetric kernels",
    paper="He, He, Shi, Huang & Suykens, Learning with asymmetric kernels: least squares and feature interpretation, "
    "TPAMI 45 (2023)",
    protocol="60/40 split (monks: the official one), scaled to [0, 1]; 10-fold cross-validation; 10 trials.",
    train=0.6,
    trials=10,
    official_trials=10,
    rows=(
        Row("heart", "heart_statlog"),
        Row("sonar", "sonar"),
        Row("monks1", "monks1", official=True),
        Row("monks2", "monks2", official=True),
        Row("monks3", "monks3", official=True),
        Row("pima", "pima"),
        Row("australian", "openml:Australian"),
        Row("spambase", "spambase"),
    ),
    methods=(
        column(
            "tl1",
            "LS-SVM TL1",
            _WIDER,
            {"rho": [0.7]},
            note="the authors' grid of γ lies among the poles of this indefinite kernel on monks; smaller γ are added.",
            **TL1,
        ),
        column(
            "tanh",
            "LS-SVM tanh",
            _WIDER,
            {"c": [-10.0, -5.0, -2.0, -1.0, -0.1, 0.1, 1.0, 2.0, 5.0, 10.0], "t": [0.0, 1.0, 5.0, 10.0, 15.0]},
            {"c": [-1.0, 0.1, 1.0], "t": [0.0, 1.0]},
            note="the paper's grid of c is uniform on [-10, 10] with a step it does not print; ours has ten values. "
            "γ as for TL1.",
        ),
        column("rbf", "LS-SVM RBF", _GAMMA, {"sigma": _SIGMA}, _FEW),
        column("sne", "AsK-LS SNE", _GAMMA, {"sigma": _SIGMA}, _FEW, solver="ask-ls"),
        column("t", "AsK-LS T", _GAMMA, {"sigma": [1.0]}, solver="ask-ls"),
        TUNED,
    ),
    reported=by_measure(
        "tl1 tanh rbf sne t",
        accuracy="""
            heart      .828±.019 .775±.047 .837±.032 .824±.025 .825±.031
            sonar      .732±.008 .537±.064 .856±.001 .854±.028 .865±.027
            monks1     .741±.010 .762±.007 .791±.012 .790±.014 .778±.012
            monks2     .671±.001 .699±.036 .841±.007 .866±.016 .866±.014
            monks3     .961±.016 .914±.001 .936±.003 .936±.004 .901±.004
            pima       .750±.017 .749±.029 .738±.026 .749±.026 .752±.021
            australian .856±.018 .855±.020 .862±.015 .854±.019 .859±.032
            spambase   .918±.014 .919±.004 .925±.007 .908±.007 .922±.018
        """,
    ),
    differences=(
        NOTE,
        "γ of TL1 is chosen below the first pole, where the system is positive definite.",
        "The grid of γ is in the authors' code only; the two views of AsK-LS are averaged.",
        "In the folds of SNE and T the normaliser is that of all training samples.",
        "Far from the paper: SNE and T on monks1, monks3 and spambase, RBF on monks2, TL1 and tanh on sonar (ours is "
        "higher). Leave-one-out in place of folds was tried, and moves them by .01 to .03 either way. For spambase γ "
        "above 100 may be what is missing; the authors' grid ends there.",
    ),
)
