"""The sentences of lookup errors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kernreg.registry.companions import advice_on
from kernreg.registry.record import Claim, Entry

_SHOWN = 40  # names listed in a message; more would hide the first line
_CLAIMS = 10  # claims to a name

#: What others call our plugins, by kind: words of scikit-learn and of the literature, without hyphens and spaces.
SYNONYMS = {
    "kernel": {
        "rbf": "gaussian gauss gaussianrbf radialbasisfunction squaredexponential se exponentiatedquadratic rbfkernel",
        "tanh": "sigmoid sigmoidkernel hyperbolictangent mlp",
        "poly": "polynomial polynomialkernel homogeneouspolynomial",
        "laplacian": "laplace exponential laplaciankernel ornsteinuhlenbeck",
        "linear": "dot dotproduct inner innerproduct linearkernel",
        "rational-quadratic": "rq rationalquadratickernel",
        "matern": "matern12 matern32 matern52 maternkernel",
        "t": "student studentt tstudent",
        "cauchy": "lorentzian",
        "intersection": "min histogramintersectionkernel",
        "kl": "kullbackleibler relativeentropy",
        "sne": "softmax conditionalgaussian",
        "precomputed": "gram matrix",
    },
    "solver": {
        "ls-svm": "svc svm lssvc linearsvc nusvc classifier logisticregression ridgeclassifier leastsquaressvm",
        "ls-svr": "svr ridge kernelridge krr kernelridgeregression nusvr regressor leastsquaressvr gp gpr kriging "
        "gaussianprocess gaussianprocessregressor",
        "ask-ls": "asksvm asymmetricsvm asymmetriclssvm",
        "kpca": "pca kernelpca",
        "ksvd": "svd kernelsvd truncatedsvd",
        "nystrom": "nystroem nystroms asymmetricnystrom",
        "relevance": "ard featureweights featureselection scaler kernelflow rfm",
        "bicluster": "biclustering coclustering spectralcoclustering spectralbiclustering",
    },
}


def unknown(kind: str, name: object, entries: Sequence[Entry], elsewhere: Iterable[str], unread: int) -> str:
    """For a name nobody claims: close matches, what there is, what is broken, and what may be missing."""
    parts = [f"there is no {kind} named {name!r}."]
    names = sorted({entry.name for entry in entries})
    word = str(name).rpartition(":")[2]
    close = list(dict.fromkeys([*synonym(word, kind, names), *close_matches(word, names)]))[:3]
    not_installed = advice_on(kind, word)
    if not_installed:
        parts.append(not_installed)
    elif close:
        parts.append(f"Did you mean {' or '.join(map(repr, close))}?")
    parts += [f"A plugin of the kind {other!r} has that name." for other in elsewhere]
    usable = sorted({entry.name for entry in entries if entry.status in ("available", "loaded")})
    if usable and not not_installed:  # what is asked for is clear then, and no list of other names helps
        parts.append(f"Available: {', '.join(usable[:_SHOWN])}{', …' if len(usable) > _SHOWN else ''}.")
    elif not usable and not entries:
        parts.append(f"No {kind} is registered at all; is kernreg itself installed (pip install . in its clone)?")
    for status in ("broken", "incompatible", "blocked", "conflicting"):
        listed = [_qualified(entry) for entry in entries if entry.status == status]
        if listed:
            parts.append(f"{status.capitalize()}: {', '.join(listed[:_SHOWN])}.")
    if unread:
        parts.append(f"The metadata of {unread} distribution(s) could not be read; see kernreg doctor.")
    return " ".join(parts)


def claimed_by(claims: Sequence[str]) -> str:
    """Who claims a name, the first few of them.

    >>> claimed_by(["kernreg-a 1.0", "kernreg-b 2.0"])
    'is claimed by kernreg-a 1.0 and by kernreg-b 2.0'
    """
    more = f" and by {len(claims) - _CLAIMS} more" if len(claims) > _CLAIMS else ""
    return f"is claimed by {' and by '.join(claims[:_CLAIMS])}{more}"


def conflict(kind: str, name: str, claims: Sequence[Claim]) -> str:
    """For a name that more than one distribution claims."""
    text = f"the {kind} {name!r} {claimed_by([f'{claim.provider} ({claim.target})' for claim in claims])}."
    choices = sorted({f"{claim.distribution}:{claim.name}" for claim in claims})
    if len(choices) < len(claims):
        return f"{text} One distribution gives the name two targets; its entry points need correcting."
    return f"{text} Say which: {' or '.join(map(repr, choices))}."


def synonym(word: str, kind: str, known: Iterable[str]) -> list[str]:
    """The known name of a kind that others call by this word, in a list; empty if there is none.

    >>> synonym("Gaussian", "kernel", ["rbf", "tanh"]), synonym("kernel ridge", "solver", ["ls-svr"])
    (['rbf'], ['ls-svr'])
    """
    plain = "".join(filter(str.isalnum, word.casefold()))
    return [name for name, words in SYNONYMS.get(kind, {}).items() if plain in words.split() and name in known]


def close_matches(word: str, known: Iterable[str]) -> list[str]:
    """Up to three known names that look like the word, whatever its case.

    >>> close_matches("RFB", ["rbf", "linear"])
    ['rbf']
    """
    import difflib  # needed only for an error

    by_folded = {name.casefold(): name for name in known}
    return [by_folded[match] for match in difflib.get_close_matches(word.casefold(), by_folded, 3)]


def _qualified(entry: Entry) -> str:
    return entry.name if entry.distribution is None else f"{entry.distribution}:{entry.name}"
