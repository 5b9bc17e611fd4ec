"""The data sets of the papers: what each is, and where it comes from."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Known:
    """A data set that is looked for in the data folder.

    Attributes
    ----------
    file : str
        Its file is ``<file>.npz``.
    kind : {"tabular", "graph", "document-term"}
    size : str
        Samples × features, or nodes and edges.
    origin : str
        Where to get it.
    split : str
        The split it stands for, where a file holds several.
    """

    file: str
    kind: str
    size: str
    origin: str
    split: str = ""


def _uci(name: str) -> str:
    return f"UCI machine learning repository, {name}"


_GRAPHS = {
    "cora": ("2708 nodes, 5429 edges", "LINQS citation graphs, cora.content and cora.cites"),
    "citeseer": ("3312 nodes, 4715 edges", "github.com/shchur/gnn-benchmark, data/npz/citeseer.npz (A[cited, citing])"),
    "citeseer_askls": (
        "3312 nodes, 4587 edges",
        "github.com/AlexHe123/AsK-LS, node classification/data/citeseer.mat, the authors' kernel matrix",
    ),
    "pubmed": ("19717 nodes, 44338 edges", "LINQS, Pubmed-Diabetes.DIRECTED.cites.tab, nodes in planetoid's order"),
    "amazon_photo": ("7650 nodes, 143663 edges", "github.com/shchur/gnn-benchmark, amazon_electronics_photo.npz"),
    "amazon_computers": (
        "13752 nodes, 287209 edges",
        "github.com/shchur/gnn-benchmark, amazon_electronics_computers.npz",
    ),
}

_DOCUMENTS = {
    "acm_docterm": ("3025 × 1870", "github.com/chakib401/BCOT, or github.com/EdisonLeeeee/GraphData, acm.npz"),
    "dblp_docterm": ("4057 × 334", "github.com/chakib401/BCOT, or github.com/ZhihaoPENG-CityU/MM21---AGCN, DBLP.mat"),
    "pubmed_docterm": ("19717 × 500", "planetoid, ind.pubmed.* (TF-IDF), test rows put back in their places"),
}

_TABLES = {
    "sonar": ("208 × 60", _uci("connectionist bench: sonar")),
    "ionosphere": ("351 × 34", _uci("ionosphere")),
    "heart_statlog": ("270 × 13", _uci("statlog: heart")),
    "monks1": ("124 + 432, 6 features", _uci("MONK's problems, training rows first")),
    "monks2": ("169 + 432, 6 features", _uci("MONK's problems, training rows first")),
    "monks3": ("122 + 432, 6 features", _uci("MONK's problems, training rows first")),
    "pima": ("768 × 8", _uci("Pima Indians diabetes")),
    "spambase": ("4601 × 57", _uci("spambase")),
    "bupa": ("345 × 6", _uci("liver disorders (BUPA)")),
    "ilpd": ("583 × 10", _uci("Indian liver patient dataset")),
    "breast_wisconsin_original": ("699 × 9", _uci("breast cancer Wisconsin (original)")),
    "balance_scale": ("625 × 4", _uci("balance scale")),
    "protein116": ("116 × 20", "the protein data of Xing et al., Distance metric learning (NIPS 2002)"),
    "splice": ("1000 + 2175, 60 features", "LIBSVM data sets, splice and splice.t"),
    "fertility": ("100 × 9", _uci("fertility")),
    "planning_relax": ("182 × 12", _uci("planning relax")),
    "climate_crashes": ("540 × 18", _uci("climate model simulation crashes")),
    "qsar_biodeg": ("1055 × 41", _uci("QSAR biodegradation")),
    "dbworld_bodies": ("64 × 4702", _uci("DBWorld e-mails, bodies")),
    "dbworld_bodies_stemmed": ("64 × 3721", _uci("DBWorld e-mails, bodies, stemmed")),
    "dbworld_subjects": ("64 × 242", _uci("DBWorld e-mails, subjects")),
    "dbworld_subjects_stemmed": ("64 × 229", _uci("DBWorld e-mails, subjects, stemmed")),
    "adult_a9a": ("32561 × 123", "LIBSVM data sets, a9a, with the nested training sets a1a, a2a, a4a, a6a"),
    "usps": (
        "7291 + 2007, 256 features",
        "the zip code digits of Elements of Statistical Learning (zip.train, zip.test)",
    ),
    "cholesterol": ("303 × 13", "WEKA's collection of numeric data sets, cholesterol.arff"),
    "casp_protein": ("45730 × 9", _uci("physicochemical properties of protein tertiary structure")),
}

KNOWN: dict[str, Known] = {
    name: Known(name, kind, size, origin)
    for kind, group in (("graph", _GRAPHS), ("document-term", _DOCUMENTS), ("tabular", _TABLES))
    for name, (size, origin) in group.items()
}

#: Names for one split of a file that holds several.
KNOWN.update(
    {
        name: Known("adult_a9a", "tabular", f"{train} + {32561 - train}, 123 features", KNOWN["adult_a9a"].origin, name)
        for name, train in (("a1a", 1605), ("a2a", 2265), ("a4a", 4781), ("a6a", 11220))
    }
)

#: What the arrays of a file are called, for the message about a missing one.
LAYOUT = {
    "tabular": "X (n × d), y, and classes (names of the codes in y) and n_train (official training rows come first) "
    "where there are any",
    "graph": "edges (n_edges × 2, source and target), labels and n_nodes",
    "document-term": "those of scipy.sparse.save_npz, and labels",
}
