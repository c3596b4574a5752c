"""The costs of all rounds of a run."""

import functools
from collections.abc import Iterator, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from driftwise._settings import Fixed
from driftwise._validate import Array, Indices, array, checked, describe, instance, whole
from driftwise.control.costs.base import Cost, DataCost, not_convex
from driftwise.control.costs.kernels import CostData
from driftwise.errors import InputError, ParameterError, RoundIndexError

_HINT = "QuadraticCost(Q, R)"

_PROBED = 100
"""Largest number of costs of a sequence that are tried; trying one takes as long as a hundred rounds with it."""


class CostSequence(Fixed):
    """One cost for every round: ``len(costs)`` is T, ``costs[t]`` is the `Cost` of round t.

    For one cost in all rounds, costs that change between stages, and costs whose two parts are multiplied by factors
    that change, `constant`, `stages` and `scaled` are shorter to write and to store.

    Parameters
    ----------
    costs : sequence of Cost
        One a round; a cost that is repeated is stored once.

    Attributes
    ----------
    state_dim, input_dim : int or None
        Number of states and of inputs; None when the costs take any.
    data : CostData or None
        Weights and factors of all rounds; None unless all costs are built in, of one kind, width and form of weights.
    model : DataCost or None
        A cost of that kind with the data of all rounds; None if there are none.

    Examples
    --------
    >>> from driftwise.control.costs import CostSequence, QuadraticCost
    >>> cheap, expensive = QuadraticCost([1.0, 1.0], 0.1), QuadraticCost([1.0, 1.0], 10.0)
    >>> costs = CostSequence.stages([cheap, expensive], rounds=1000)
    >>> costs[499].value([1.0, 0.0], [1.0]), costs[500].value([1.0, 0.0], [1.0])
    (1.1, 11.0)
    >>> len(costs), costs.gradient_constant
    (1000, 20.0)
    """

    def __init__(self, costs: Sequence[Cost]) -> None:
        items = _listed("CostSequence", costs)
        distinct = {id(cost): cost for cost in items}
        places = {key: n for n, key in enumerate(distinct)}
        self._fill(list(distinct.values()), len(items), np.array([places[id(cost)] for cost in items]))

    @classmethod
    @checked
    def constant(cls, cost: Cost, rounds: int) -> "CostSequence":
        """Return the same cost in all rounds.

        Parameters
        ----------
        cost : Cost
            The cost.
        rounds : int
            T.
        """
        owner = "CostSequence.constant"
        instance(owner, "cost", cost, Cost, _HINT)
        T = whole(owner, "rounds", rounds)
        return cls._new([cost], T, np.zeros(T, np.int64))

    @classmethod
    @checked
    def stages(
        cls, costs: Sequence[Cost], rounds: int | None = None, *, lengths: Sequence[int] | None = None
    ) -> "CostSequence":
        """Return costs that change only between stages.

        Parameters
        ----------
        costs : sequence of Cost
            One a stage.
        rounds : int, optional
            T, divided among the stages as evenly as possible, the longer ones first.
        lengths : sequence of int, optional
            Rounds in every stage, in place of `rounds`.
        """
        owner = "CostSequence.stages"
        items = _listed(owner, costs)
        if (rounds is None) == (lengths is None):
            raise ParameterError(f"{owner}: give either rounds or lengths, and not both.")
        if rounds is not None:
            total = whole(owner, "rounds", rounds, low=len(items))
            sizes = [total // len(items) + (n < total % len(items)) for n in range(len(items))]
        else:
            sizes = [whole(owner, "every one of lengths", length) for length in cast(Sequence[int], lengths)]
            if len(sizes) != len(items):
                raise InputError(f"{owner}: lengths must be one a stage, {len(items)}, got {len(sizes)}.")
        return cls._new(items, sum(sizes), np.repeat(np.arange(len(items)), sizes))

    @classmethod
    @checked
    def scaled(cls, cost: DataCost, state_factors: ArrayLike, input_factors: ArrayLike) -> "CostSequence":
        """Return c_t = a_t (state part of `cost`) + b_t (input part of `cost`).

        Parameters
        ----------
        cost : DataCost
            A built-in cost, since only its two parts are known separately.
        state_factors, input_factors : arrays of shape (T,)
            a and b. A negative factor makes a cost that is not convex: it is refused, or warned of, as the cost's
            `if_not_convex` says.
        """
        owner = "CostSequence.scaled"
        instance(owner, "cost", cost, DataCost, f"{_HINT}, whose state part and input part are known")
        if not cost.compiled:
            raise ParameterError(f"{owner}: {type(cost).__name__} has a value or a gradient of its own; scale those.")
        a = array(owner, "state_factors", state_factors, ("T",))
        b = array(owner, "input_factors", input_factors, (a.size,))
        scales = np.stack([a, b], axis=1)
        for t, part in np.argwhere(scales < 0.0)[:1]:
            complaint = (
                f"{owner}: the cost of round {t} is not convex, because its {('state', 'input')[part]} factor is "
                f"negative, {scales[t, part]:.6g}."
            )
            if not cost.quadratic:
                raise ParameterError(f"{complaint} Give factors of zero or more.")
            not_convex(cost.if_not_convex, complaint, stacklevel=3)
        return cls.from_data(cost, cost.data._replace(scales=scales * cost.data.scales), a.size)

    @classmethod
    def from_data(cls, model: DataCost, data: CostData, rounds: int) -> "CostSequence":
        """Return costs of the kind of `model` with the weights and factors of `data`, which are taken as they are."""
        return cls._new([model.with_data(data)], rounds)

    @classmethod
    def _new(cls, costs: list[Cost], rounds: int, index: Indices | None = None) -> "CostSequence":
        self = cls.__new__(cls)
        self._fill(costs, rounds, index)
        return self

    def _fill(self, costs: list[Cost], rounds: int, index: Indices | None) -> None:
        """Take costs, of which round t has the one with the number index[t]; without an index, one for all rounds."""
        self._costs, self._rounds, self._index = costs, rounds, index
        self.state_dim = _common("state_dim", [cost.state_dim for cost in costs])
        self.input_dim = _common("input_dim", [cost.input_dim for cost in costs])
        self.model = _assembled(costs, index)

    @property
    def data(self) -> CostData | None:
        """Weights and factors of all rounds, if compiled code can read them."""
        return None if self.model is None else self.model.data

    @functools.cached_property
    def gradient_constant(self) -> float | None:
        """G_c, with ``|grad_x c_t| <= G_c |x|`` and ``|grad_u c_t| <= G_c |u|``; None when it is not known."""
        if self.model is not None:
            return self.model.gradient_constant
        constants = [cost.gradient_constant for cost in self._costs]
        known = [constant for constant in constants if constant is not None]
        return max(known) if len(known) == len(constants) else None

    @property
    def convex(self) -> bool:
        """Whether no cost is known not to be convex."""
        return self.model is None or self.model.convex

    @property
    def aimed(self) -> bool:
        """Whether any cost has a target other than 0."""
        data = [cost.data for cost in self._costs if isinstance(cost, DataCost)]
        return any(bool(target.any()) for each in data for target in each.targets)

    def steepest(self, state_bound: float, input_bound: float) -> tuple[float, float]:
        """Return bounds on the norms of the gradients in x and in u, over states and inputs within these norms.

        Parameters
        ----------
        state_bound, input_bound : float
            Largest norms of a state and of an input.
        """
        if self.model is None and self.gradient_constant is not None:
            return self.gradient_constant * state_bound, self.gradient_constant * input_bound
        found = None if self.model is None else self.model.steepest(state_bound, input_bound)
        if found is None:
            raise InputError(
                "CostSequence: gradients are bounded only for built-in costs with one weight for every state and input."
            )
        return found

    def probe(self, state_dim: int, input_dim: int) -> None:
        """Check that the costs fit a plant of these dimensions; see `CustomCost.probe`.

        Of more than 100 different costs, 100 are tried, evenly spread over the list from the first to the last.

        Parameters
        ----------
        state_dim, input_dim : int
            Number of states and of inputs.
        """
        spread = np.linspace(0, len(self._costs) - 1, min(len(self._costs), _PROBED))
        for n in spread.round().astype(int):
            self._costs[n].probe(state_dim, input_dim)

    def __len__(self) -> int:
        return self._rounds

    def __getitem__(self, t: int) -> Cost:
        if not isinstance(t, int | np.integer) or isinstance(t, bool) or not 0 <= t < self._rounds:
            raise RoundIndexError(
                f"CostSequence: round must be a whole number from 0 to {self._rounds - 1}, got {describe(t)}."
            )
        if self._index is not None:
            return self._costs[int(self._index[t])]
        assert self.model is not None
        return self.model.of_round(int(t))

    def __iter__(self) -> Iterator[Cost]:
        return (self[t] for t in range(self._rounds))

    def __repr__(self) -> str:
        return f"CostSequence(rounds={self._rounds}, state_dim={self.state_dim}, input_dim={self.input_dim})"


def _listed(owner: str, costs: Any) -> list[Cost]:
    """Return a list of costs."""
    if isinstance(costs, Cost) or not isinstance(costs, Sequence | CostSequence) or len(costs) == 0:
        made = " (CustomCost or costs.from_jax makes a cost of a function)" if callable(costs) else ""
        raise InputError(
            f"{owner}: costs must be a list of one or more costs, such as [{_HINT}], got {costs!r:.60}{made}."
        )
    items = list(costs)
    for t, cost in enumerate(items):
        if not isinstance(cost, Cost):
            raise InputError(f"{owner}: costs[{t}] must be a Cost, such as {_HINT}, got {describe(cost)}.")
    return items


def _common(name: str, sizes: list[int | None]) -> int | None:
    """Return the dimension that all costs share which have one."""
    known = sorted({size for size in sizes if size is not None})
    if len(known) > 1:
        raise InputError(f"CostSequence: all costs must have the same {name}, got {known[0]} and {known[-1]}.")
    return known[0] if known else None


def _assembled(costs: list[Cost], index: Indices | None) -> DataCost | None:
    """Return one cost with the data of all rounds, or None if compiled code cannot run them.

    Each distinct pair of weights is stored once.
    """
    built_in = [cost for cost in costs if isinstance(cost, DataCost) and cost.compiled]
    parts = [cost.data for cost in built_in]
    forms = {(part.kind, part.width, part.state.shape, part.input.shape, part.limits.shape) for part in parts}
    if len(parts) < len(costs) or len(forms) > 1:
        return None
    if index is None:
        return built_in[0]
    parts = _with_targets(parts)
    keys = [tuple(rows.tobytes() for rows in part.of_stages.values()) for part in parts]
    distinct = dict(zip(keys, parts, strict=True))
    places = {key: n for n, key in enumerate(distinct)}
    stage = np.array([places[key] for key in keys])[index]
    scales: Array = np.concatenate([part.scales for part in parts])[index]
    tables = [part.of_stages for part in distinct.values()]
    joined: dict[str, Any] = {name: np.concatenate([table[name] for table in tables]) for name in tables[0]}
    data = parts[0]._replace(
        **joined,
        stage=stage if len(distinct) > 1 else stage[:1],
        scales=scales[:1].copy() if (scales == scales[0]).all() else scales,
    )
    return built_in[0].with_data(data)


def _with_targets(parts: list[CostData]) -> list[CostData]:
    """Return the data of costs of which all have a target if any has; 0 is that of a cost without one."""
    for name in ("state_target", "input_target"):
        size = max(getattr(part, name).shape[1] for part in parts)
        blank: dict[str, Any] = {name: np.zeros((1, size))}
        parts = [part if getattr(part, name).shape[1] == size else part._replace(**blank) for part in parts]
    return parts


def as_costs(owner: str, costs: Any, rounds: int, state_dim: int, input_dim: int) -> CostSequence:
    """Return one cost a round, checked against the plant.

    Parameters
    ----------
    owner : str
        Who asks, for error messages.
    costs : Cost, CostSequence or sequence of Cost
        A single cost holds in all rounds.
    rounds, state_dim, input_dim : int
        What the sequence must have.
    """
    if isinstance(costs, Cost):
        sequence = CostSequence.constant(costs, rounds)
    else:
        sequence = costs if isinstance(costs, CostSequence) else CostSequence(_listed(owner, costs))
    if len(sequence) != rounds:
        raise InputError(f"{owner}: costs must be one a round, {rounds} in all, got {len(sequence)}.")
    sizes = {"state_dim": (sequence.state_dim, state_dim), "input_dim": (sequence.input_dim, input_dim)}
    for name, (mine, wanted) in sizes.items():
        if mine is not None and mine != wanted:
            raise InputError(
                f"{owner}: the plant has {name} {wanted}, but the costs are made for {name} {mine}; "
                "give one weight for every state and every input."
            )
    sequence.probe(state_dim, input_dim)
    return sequence
