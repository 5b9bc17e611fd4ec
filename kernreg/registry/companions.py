"""The plugins in the folder ``plugins/`` of kernreg's sources: where a name comes from that is not installed."""

from __future__ import annotations

#: What each of them provides, by kind.
COMPANIONS = {
    "kernreg-asymmetric": {
        "kernel": "shift-gauss sinh-gauss cosh-gauss skew-laplace profile-product ask-rff local-rbf lab-rbf",
        "solver": "ask-rff ask-rff-ls ask-rff-lsr lab-rbf lab-rbf-classifier",
    },
    "kernreg-dask": {"engine": "dask"},
    "kernreg-graph": {"kernel": "graph-adjacency katz pagerank shortest-path", "solver": "ksvd-cluster"},
    "kernreg-histogram": {
        "kernel": "histogram-kl histogram-chi2 hellinger jensen-shannon additive-chi2 bhattacharyya "
        "histogram-intersection containment"
    },
    "kernreg-krein": {"solver": "krein-svm iksvm-dc krein-ridge krein-ridge-regressor"},
    "kernreg-metric": {"kernel": "conformal", "solver": "osk ldk ideal-regularized simple-npk fisher-score"},
    "kernreg-papers": {"command": "papers"},
    "kernreg-structured": {"kernel": "gak gmm-kl gower"},
}


def companion_with(kind: str, name: str) -> str:
    """Return the plugin of kernreg's sources that provides a name, or an empty text.

    >>> companion_with("kernel", "gak"), companion_with("kernel", "rbf")
    ('kernreg-structured', '')
    """
    for distribution, provided in COMPANIONS.items():
        if name in provided.get(kind, "").split():
            return distribution
    return ""


def advice_on(kind: str, name: str) -> str:
    """Return where a name comes from and how to install that, or an empty text.

    >>> advice_on("solver", "krein-svm")
    'The plugin kernreg-krein provides it: pip install ./plugins/kernreg-krein in a clone of kernreg.'
    """
    distribution = companion_with(kind, name)
    if not distribution:
        return ""
    return f"The plugin {distribution} provides it: pip install ./plugins/{distribution} in a clone of kernreg."
