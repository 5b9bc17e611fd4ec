"""A made-up food web: who feeds whom. What a species is shows only in the direction of its links."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

import kernreg as kr
from kernreg.errors import PluginError, UnknownPlugin

#: Matter flows from each role to the next, and from the last to the first.
ROLES = ("plants", "grazers", "hunters", "decomposers")


@dataclass(frozen=True)
class FoodWeb:
    """Species, their roles, and the kernel on them; species are numbers 0 … n - 1. `problem`: why no plugin is used."""

    kernel: Any
    roles: np.ndarray
    labelled: np.ndarray
    unlabelled: np.ndarray
    problem: str = ""

    @property
    def species(self) -> np.ndarray:
        """All species, as samples."""
        return np.arange(len(self.roles))[:, None]

    @property
    def known(self) -> np.ndarray:
        """The roles of the labelled species."""
        return self.roles[self.labelled.ravel()]

    @property
    def unknown(self) -> np.ndarray:
        """The roles of the unlabelled species."""
        return self.roles[self.unlabelled.ravel()]


def make_food_web(n_species: int = 400, *, feeding: float = 0.4, noise: float = 0.1, seed: int = 0) -> FoodWeb:
    """Draw a food web in which every second species is labelled.

    A species feeds one of the next role with probability `feeding`, and any other one with probability `noise`.
    K[i, j] is the share of j in what i gives away: 1 / (links of i) where i feeds j. Without the direction of links,
    plants and hunters look alike, for both are linked to grazers and to decomposers; so do grazers and decomposers.

    >>> web = make_food_web(40)
    >>> web.kernel(web.species).shape, len(web.labelled)
    ((40, 40), 20)
    """
    rng = np.random.default_rng(seed)
    roles = rng.permutation(np.arange(n_species) % len(ROLES))
    probability = np.where(roles == (roles[:, None] + 1) % len(ROLES), feeding, noise)
    links = rng.random((n_species, n_species)) < probability
    np.fill_diagonal(links, False)
    graph = sp.csr_array(links.astype(np.float64))
    try:
        kernel, problem = kr.make_kernel("graph-adjacency", graph=graph, direction="citing"), ""
    except PluginError as error:  # the built-in kernel holds the same numbers
        kernel = kr.make_kernel("adjacency", graph=graph, cited=False)
        missing = "the plugin kernreg-graph is not installed. From a clone: pip install ./plugins/kernreg-graph"
        problem = missing if isinstance(error, UnknownPlugin) else str(error)
    species = np.arange(n_species)[:, None]
    return FoodWeb(kernel, roles, species[::2], species[1::2], problem)
