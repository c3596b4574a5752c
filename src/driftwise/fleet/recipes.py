"""What members were built with: every configuration once, with a row of constants for kernels."""

from typing import Any

import numpy as np

from driftwise._saving import title
from driftwise._settings import PLAIN
from driftwise._validate import Array, Indices
from driftwise.engine import layout
from driftwise.engine.layout import CONSTANTS
from driftwise.errors import CheckpointError
from driftwise.fleet.source import Source, rebuilt
from driftwise.learners import Ensemble

ADDRESSES = slice(layout.ROUND_CALL, layout.FORGET_CALL + 1)
"""Where the header has addresses of plugins."""


class Recipes:
    """Configurations of one family of learners.

    A recipe is a base, that is a learner, and a price and a radius if they are not the base's: prices of a million
    members are two numbers each, and their constants.

    Parameters
    ----------
    pattern : Ensemble
        One of the family.

    Attributes
    ----------
    bases : list of Ensemble
        Learners, in whatever state.
    base : array of int64, shape (K,)
        The base of each recipe.
    prices, radii : array of shape (K,)
        NaN where they are the base's.
    constants : array of shape (K, size)
        The constants of each recipe, without addresses.
    """

    def __init__(self, pattern: Ensemble) -> None:
        self.program = pattern.program
        self.bases: list[Ensemble] = []
        self.base, self.prices, self.radii = np.zeros(0, np.int64), np.zeros(0), np.zeros(0)
        self.constants = np.zeros((0, CONSTANTS.size(self.program.sides)))
        self._known: dict[Any, int] = {}
        self._recipes: dict[tuple[int, float | None, float | None], int] = {}

    def __len__(self) -> int:
        return len(self.base)

    def add(self, source: Source) -> tuple[Indices, Array, Indices]:
        """Enter newcomers.

        Returns
        -------
        which : array of int64, shape (count,)
            The recipe of each newcomer.
        states : array of shape (k, size)
            The states that they begin with, each once.
        inverse : array of int64, shape (count,)
            The state of each newcomer.
        """
        columns = [part for part in (source.prices, source.radii) if part is not None]
        keys = np.stack([source.which, *(np.ascontiguousarray(part).view(np.int64) for part in columns)], axis=1)
        if columns:
            _, first, inverse = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        else:
            _, first, inverse = np.unique(source.which, return_index=True, return_inverse=True)
        states, rows = list[Array](), list[Array]()
        entered: list[tuple[Any, ...]] = []
        for i in first.tolist():
            pattern, settings = source.patterns[source.which[i]], source.settings(i)
            base = self._base_of(pattern)
            learner = rebuilt("Fleet", self.bases[base], **settings) if settings else pattern
            key = (base, settings.get("switching_cost"), settings.get("radius"))
            if key not in self._recipes:
                self._recipes[key] = len(self) + len(entered)
                entered.append((base, *(np.nan if number is None else number for number in key[1:])))
                rows.append(learner.program._blank[: self.constants.shape[1]])
            states.append(learner._state.copy())
        which = np.array([self._recipes[self._key(source, i)] for i in first.tolist()], np.int64)
        if entered:
            more = np.array(entered)
            self.base = np.concatenate([self.base, more[:, 0].astype(np.int64)])
            self.prices = np.concatenate([self.prices, more[:, 1]])
            self.radii = np.concatenate([self.radii, more[:, 2]])
            self.constants = np.concatenate([self.constants, np.array(rows)])
        inverse = inverse.reshape(-1)
        return which[inverse], np.array(states), inverse

    def _key(self, source: Source, i: int) -> tuple[int, float | None, float | None]:
        settings = source.settings(i)
        base = self._base_of(source.patterns[source.which[i]])
        return base, settings.get("switching_cost"), settings.get("radius")

    def _base_of(self, learner: Ensemble) -> int:
        """Return the number of the base with a learner's configuration, which becomes one if it is new."""
        place = self._known.get(id(learner.program))
        if place is None:
            identity = self._identity(learner)
            place = self._known.get(identity)
            if place is None:
                place = self._known[identity] = len(self.bases)
                self.bases.append(learner.clone())
                self._known[id(self.bases[-1].program)] = place  # which lives as long as the base
        return place

    @staticmethod
    def _identity(learner: Ensemble) -> Any:
        """Return what two learners of one configuration have in common."""
        given = learner._configuration().items()
        plain = tuple((name, value) for name, value in given if isinstance(value, PLAIN) and name != "start")
        program = learner.program
        return title(type(learner)), learner.horizon, plain, program._blank[: CONSTANTS.size(program.sides)].tobytes()

    def learner(self, recipe: int) -> Ensemble:
        """Return a new learner, of whatever state, with a configuration."""
        base = self.bases[self.base[recipe]]
        numbers = {"switching_cost": self.prices[recipe], "radius": self.radii[recipe]}
        settings = {name: float(number) for name, number in numbers.items() if not np.isnan(number)}
        learner: Ensemble = rebuilt("Fleet", base, **settings) if settings else base.clone()
        return learner

    def linked(self, offsets: Array) -> Array:
        """Return the constants with addresses, and with the offsets of states that are laid out anew."""
        program, table = self.program, self.constants.copy()
        cell = program._blank.copy()
        program.link(cell)
        if program.heedless:
            program.link_hints(cell)
        linked = cell[: table.shape[1]]
        changed = np.flatnonzero(linked != program._blank[: table.shape[1]])
        table[:, changed] = linked[changed]
        table[:, layout.DECISION : layout.DUALS + 1] = offsets
        return table

    def clone(self) -> "Recipes":
        """Return an independent copy; bases are shared, as nobody changes them."""
        other = Recipes(self.bases[0])
        other.__dict__.update(self.__dict__)
        other.bases, other._known, other._recipes = list(self.bases), dict(self._known), dict(self._recipes)
        return other

    @property
    def nbytes(self) -> int:
        """Bytes of memory."""
        numbers = (self.constants, self.base, self.prices, self.radii)
        cells = sum(base._cell.nbytes + base.program._blank.nbytes for base in self.bases)
        return sum(part.nbytes for part in numbers) + cells

    def saved(self) -> dict[str, Any]:
        """Return what is to be saved."""
        return {"bases": self.bases, "base": self.base, "prices": self.prices, "radii": self.radii}

    @classmethod
    def resumed(cls, saved: dict[str, Any]) -> "Recipes":
        """Return what was saved, built anew."""
        bases = saved["bases"]
        if not bases or not all(isinstance(base, Ensemble) for base in bases):
            raise CheckpointError("Fleet: the configurations of its members must be learners.")
        given = [saved[name] for name in ("base", "prices", "radii")]
        kinds = [np.int64, np.float64, np.float64]
        count = len(given[0])
        fits = all(part.shape == (count,) and part.dtype == kind for part, kind in zip(given, kinds, strict=True))
        if not fits or not (np.all(given[0] >= 0) and np.all(given[0] < len(bases))):
            raise CheckpointError("Fleet: configurations of members must be a base, a price and a radius each.")
        recipes = cls(bases[0])
        recipes.bases = bases
        recipes.base, recipes.prices, recipes.radii = given
        rows = []
        for k in range(count):
            learner = recipes.learner(k)
            rows.append(learner.program._blank[: recipes.constants.shape[1]])
            key = (int(given[0][k]), *(None if np.isnan(part[k]) else float(part[k]) for part in given[1:]))
            recipes._recipes[key] = k  # type: ignore[index]
        if rows:
            recipes.constants = np.array(rows)
        for place, base in enumerate(bases):
            recipes._known[cls._identity(base)] = recipes._known[id(base.program)] = place
        return recipes
