"""A learner's configuration, and the cell that the kernels read: made here, without compiling anything."""

import math
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from driftwise._compile import LARGEST, Plugin
from driftwise._validate import Array
from driftwise.domains import Domain
from driftwise.domains.kernels import BALL, BOX, SIMPLEX, SPECTRAL
from driftwise.engine import adaptive, hints, layout, matrices, members, rounds, tuned
from driftwise.engine.layout import CONSTANTS, STATE
from driftwise.errors import CheckpointError, ParameterError
from driftwise.mirror import ENTROPY, EUCLIDEAN, MirrorMap, NegativeEntropy
from driftwise.movecost import MoveCost

FREE = MoveCost(0.0, norm="l2")

MOST_COUNT = 2.0**62
"""More than any count in a state can be."""

CLIP, UNCLIPPED = (3.0, 10.0), (0.0, 0.0)
"""How many times the usual size a gradient may have in the first rounds and later, and no limit."""

SCHEDULES = ("fixed", "time-varying", "doubling", "self-tuned", "adaptive")


@dataclass(frozen=True)
class Program:
    """Everything that distinguishes one two-layer algorithm from another.

    Attributes
    ----------
    domain : Domain
        Domain of the decisions.
    mirror : MirrorMap
        Geometry of the base step.
    steps : array of shape (N,)
        Step sizes at clock 1; divided by the root of the clock in use.
    log_prior : array of shape (N,)
        Logarithm of Hedge's prior, up to a constant.
    rate : float
        Hedge's learning rate at clock 1; the factor 2 of its formula in the self-tuned schedule.
    switching_cost : MoveCost
        The price of a move in the surrogate loss of the meta layer.
    schedule : "fixed", "time-varying", "doubling", "self-tuned" or "adaptive"
        Name of the clock that divides the rates; in the adaptive schedule they are used as they are.
    clock : float
        The clock of the fixed schedule: the number of updates planned, or 1 for rates given directly.
    growth : float
        c in N = ceil(log2(1 + c * clock) / 2) + 1 for the schedules without a horizon; 0 keeps all N in play.
    epoch : int
        Rounds that share one decision.
    own_gradients : bool
        Whether every base-learner is judged and moved by the loss at its own point.
    patience : array of shape (kinds,)
        Part of the price of a move that a base-learner's gradients must outweigh before it moves, for each kind; the
        steps are those of one base-learner of each kind in turn.
    dead_zone : float
        Factor in the radius of the dead zone around the mixture; 0 for none.
    heedless : int
        Number of kinds, from the first, that ignore hints.
    rates : tuple of N floats
        A rate for every base-learner, for the adaptive schedule; empty for the others.
    charge : float
        What a unit of weight that shifts is charged in the adaptive schedule.
    clip : tuple of two floats
        How many times the usual size a gradient may have in the first rounds of the self-tuned schedule, and later;
        zeros for no clipping.
    """

    domain: Domain
    mirror: MirrorMap
    steps: Array
    log_prior: Array
    rate: float = 0.0
    switching_cost: MoveCost = FREE
    schedule: str = "fixed"
    clock: float = 1.0
    growth: float = 0.0
    epoch: int = 1
    own_gradients: bool = False
    patience: tuple[float, ...] = (0.0,)
    dead_zone: float = 0.0
    heedless: int = 0
    rates: tuple[float, ...] = ()
    charge: float = 0.0
    clip: tuple[float, float] = UNCLIPPED

    def __post_init__(self) -> None:
        """Refuse constants that leave the range of floating point."""
        # Self-tuned steps are distances, up to the diameter times the longest of the pool, over the size of gradients.
        limit = LARGEST * 2.0**32 if self.schedule == "self-tuned" else LARGEST
        if not (np.all(self.steps <= limit) and np.all(self.steps >= 0.0) and 0.0 <= self.rate <= LARGEST):
            shown = np.array2string(self.steps, threshold=6)
            raise ParameterError(
                f"step sizes {shown} and learning rate {self.rate:g} must be between 0 and {limit:g}; "
                "rescale the losses or the domain so that diameter and gradient bound are nearer to 1."
            )

    @property
    def price(self) -> float:
        """The most that a move by one unit of distance can cost."""
        return self.switching_cost.largest(self.domain.dim)

    @property
    def priced(self) -> bool:
        """Whether moves have prices other than one number per unit of Euclidean distance."""
        return self.switching_cost.plain is None

    @property
    def kinds(self) -> int:
        """Number of base-learners for each step size."""
        return len(self.patience)

    @property
    def sizes(self) -> int:
        """Number of step sizes, those not in play yet included."""
        return self.steps.size // self.kinds

    @cached_property
    def order(self) -> NDArray[np.int64]:
        """The lanes of the base-learners: step size by step size, kind by kind."""
        return layout.lane_order(self.sizes, self.kinds)

    @cached_property
    def sides(self) -> layout.Sides:
        """Sides of a cell's parts, by name."""
        lanes, dim, entropic = layout.lanes_of(self.sizes, self.kinds), self.domain.dim, self._base == ENTROPY
        return {
            "dim": dim,
            "lanes": lanes,
            "blocks": lanes // 4,
            "kinds": self.kinds,
            "priced": 2 * self.priced,
            "plan": self.domain.plan(link=False).size,
            "simplices": len(self._simplices),
            "epoch": self.epoch > 1,
            "entropy": entropic,
            "zone": self.dead_zone > 0.0,
            "duals": (lanes // 4) * (entropic or any(self.patience)),
            "gradients": lanes // 4 if self.own_gradients else 1,
            "own": lanes if self.own_gradients else 0,
            "rated": lanes if self.rates else 0,
            "spare": max(self.domain.room, 2 * dim * (self._base not in (EUCLIDEAN, ENTROPY))),
        }

    @property
    def _base(self) -> int:
        return self.mirror.kind(self.domain)

    @property
    def _share(self) -> float:
        """Part of the start that entropic steps are mixed with."""
        return self.mirror.share if isinstance(self.mirror, NegativeEntropy) else 0.0

    @property
    def _simplices(self) -> list[slice]:
        """Coordinates of every simplex in the domain."""
        parts = zip(self.domain.blocks, self.domain.slices, strict=True)
        return [part for block, part in parts if block.kind == SIMPLEX]

    @cached_property
    def _blank(self) -> Array:
        """A cell with all constants except addresses of plugins, and an empty state."""
        cell, sides, cost, dim = layout.new_cell(self.sides), self.sides, self.switching_cost, self.domain.dim
        numbers = {
            layout.DIM: dim,
            layout.KINDS: self.kinds,
            layout.SIZES: self.sizes,
            layout.HEEDLESS: self.heedless,
            layout.SCHEDULE: SCHEDULES.index(self.schedule),
            layout.EPOCH: self.epoch,
            layout.OWN: 4 * dim * self.own_gradients,
            layout.RATE: self.rate,
            layout.SWITCHING: 1.0 if cost.plain is None else cost.plain,
            layout.PRICE: self.price,
            layout.GROWTH: self.growth,
            layout.CLOCK: self.clock,
            layout.MAP_NUMBER: self._share if self._base == ENTROPY else self.mirror.exponent,
            layout.BASE: self._base,
            layout.ADDS_UP: self.priced and cost.norm == "l1",
            layout.FOLDED: sides["duals"] > 0,
            layout.ENTROPIC: self.domain.numbers[0] if self._base == ENTROPY else 0.0,
            layout.SIMPLEX_COUNT: sides["simplices"],
            layout.DIAMETER: self.domain.diameter,
            layout.DEAD_ZONE: self.dead_zone,
            layout.THIN: self._step(self._base) is matrices.matrices_step,
            layout.CHARGE: self.charge,
            layout.EARLY: self.clip[0],
            layout.LATE: self.clip[1],
        }
        for place, value in numbers.items():
            cell[place] = value
        constants = CONSTANTS.views(cell, sides)
        constants["steps"][self.order], constants["patience"][:] = self.steps, self.patience
        constants["log_prior"][:] = -math.inf
        constants["log_prior"][self.order] = self.log_prior
        if self.rates:
            constants["rates"][self.order] = self.rates
        if self.priced:
            constants["prices"][:] = cost.prices(dim)
        constants["domain"][:] = self.domain.plan(link=False)
        for row, part in zip(constants["simplices"], self._simplices, strict=True):
            row[:] = part.start, part.stop
        return cell

    def cell_of(self, known: Array) -> Array:
        """Return a cell with the state of another cell of the same program."""
        cell = self._blank.copy()
        layout.state_of(cell)[:] = known
        return cell

    def check_state(self, owner: str, known: Array, learnt: int) -> None:
        """Raise unless kernels can work with a state that comes from outside: sizes, counts, weights, decision.

        `learnt` is the number of rounds that it has had feedback of.
        """
        now = layout.state_of(self._blank)
        if known.dtype != np.float64 or known.shape != now.shape:
            raise CheckpointError(f"{owner}: its state has {now.size} numbers, the one that was saved {known.shape}.")
        state = STATE.views(known, self.sides)
        lanes = self.order[: int(min(max(known[layout.ACTIVE], 1.0), self.sizes)) * self.kinds]
        counts = known[[layout.ROUND, layout.UPDATES, layout.WAITING, layout.ACTIVE, layout.POWER, layout.HINTED]]
        numbers = np.concatenate([part.ravel() for name, part in state.items() if name != "prior"])
        possible = {
            "counts": np.all((counts >= 0.0) & (counts == np.floor(counts)) & (counts <= MOST_COUNT)),
            "round": known[layout.ROUND] == learnt,
            # These two say when newcomers join, and there are lanes for as many as a true number of updates brings in.
            "updates": known[layout.UPDATES] * max(self.epoch, 1) + known[layout.WAITING] == known[layout.ROUND],
            "powers": not self.growth or known[layout.POWER] == 2.0 ** min(known[layout.ACTIVE], 1000.0),
            "base-learners in play": 1.0 <= known[layout.ACTIVE] <= self.sizes,
            "epoch": known[layout.WAITING] < max(self.epoch, 1),
            "numbers": np.isfinite(numbers).all() and np.isfinite(known[: STATE.numbers]).all(),
            "prior": np.isfinite(state["prior"][lanes]).all() and not np.isnan(state["prior"]).any(),
            "weights": np.all(state["weights"] >= 0.0) and abs(state["weights"].sum() - 1.0) <= 1e-9,
            "decision": self.domain.contains(state["decision"]),
        }
        wrong = [name for name, fine in possible.items() if not fine]
        if wrong:
            raise CheckpointError(f"{owner}: a state with such {', '.join(wrong)} is not possible.")

    def new_cell(self, start: Array) -> Array:
        """Return the cell of a new learner that begins at `start`."""
        cell = self._blank.copy()
        now, state = layout.state_of(cell), self.views(cell)
        for name in ("decision", "centre", "played"):
            state[name][:] = start
        state["points"][:] = start[:, None]
        if self._base == ENTROPY:
            state["log_start"][:] = np.log(np.maximum(start / self.domain.numbers[0], 1e-300))
        in_play = self.sizes
        if self.growth:  # begin with those that the pool has for one round
            in_play = 1 if self.schedule == "self-tuned" else pool_size(self.clock_at(0), self.growth)
        first = self.order[: in_play * self.kinds]
        log_prior = self.log_prior[: first.size]
        state["prior"][:] = -math.inf
        state["prior"][first] = log_prior
        shares = np.exp(log_prior - log_prior.max())
        state["weights"][first] = shares / shares.sum()
        now[layout.ACTIVE], now[layout.POWER] = in_play, 2.0**in_play
        return cell

    @cached_property
    def _plan(self) -> Array:
        """The domain's plan in this process."""
        return self.domain.plan()

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Return the program itself, which nobody can change: copies of a learner share it."""
        return self

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields; what follows from them is computed again."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def link(self, cell: Array) -> None:
        """Write the addresses of the plugins that this learner needs, and compile those that are not on disk."""
        tuned_family, base = self.schedule == "self-tuned", self._base
        step = self._step(base)
        families = {"self-tuned": tuned.tuned_round, "adaptive": adaptive.adaptive_round}
        cell[layout.ROUND_CALL] = families.get(self.schedule, rounds.paper_round).address
        cell[layout.STEP_CALL] = step.address
        cell[layout.MOVE_CALL] = (members.priced_move if self.priced else step).address
        if any(self.patience):
            wait = members.patient_priced_move if self.priced else members.patient_move
            cell[layout.WAIT_CALL] = wait.address
        if base == ENTROPY:
            cell[layout.PLACE_CALL] = members.place_entropy.address
        if tuned_family and cell[layout.SIMPLEX_COUNT] > 0.0:
            cell[layout.TANGENT_CALL] = tuned.within_simplices.address
        if step in (members.planned_step, matrices.matrices_step):
            CONSTANTS.views(cell, self.sides)["domain"][:] = self._plan

    def link_hints(self, cell: Array) -> int:
        """Write the further address that a hinted round needs, and return that of `hints.take_hint`."""
        cell[layout.FORGET_CALL] = hints.forget_hint.address
        return hints.take_hint.address

    def _step(self, base: int) -> Plugin:
        """Return the step of one base-learner."""
        if base == ENTROPY:
            return members.shared_entropy_step if self._share > 0.0 else members.entropy_step
        if base != EUCLIDEAN:
            return members.pnorm_mirror_step
        plain = self.schedule != "self-tuned" and not self.own_gradients and not any(self.patience)
        if plain and all(block.kind == SPECTRAL for block in self.domain.blocks):
            return matrices.matrices_step
        if len(self.domain.blocks) > 1:
            return members.planned_step
        return {BALL: members.ball_step, BOX: members.box_step}.get(self.domain.blocks[0].kind, members.planned_step)

    def views(self, cell: Array) -> dict[str, Array]:
        """Return the parts of a cell's state by name; base-learners in the order of lanes."""
        return STATE.views(layout.state_of(cell), self.sides)

    def last_gradient(self, cell: Array) -> Array:
        """Return the gradient of a cell's last round, as its base-learners were given it; lost in copies."""
        room = cell[int(cell[layout.ROOM_AT]) :]
        return np.asarray(layout.ROOM.views(room, self.sides)["gradient"][0, :, 0].copy())

    def with_twins(self) -> Self:
        """Return the program in which every base-learner has a twin of its own kind that heeds hints."""
        kinds = self.kinds
        rows = [np.repeat(part.reshape(-1, kinds), 2, axis=0).ravel() for part in (self.steps, self.log_prior)]
        return replace(self, steps=rows[0], log_prior=rows[1], patience=self.patience * 2, heedless=kinds)

    def twins(self, cell: Array) -> Array:
        """Return the cell of the program `with_twins`: both twins where the original was, with half its weight each."""
        larger, dim = self.with_twins(), self.domain.dim
        new_cell = larger.new_cell(np.zeros(dim))
        layout.state_of(new_cell)[: STATE.numbers] = layout.state_of(cell)[: STATE.numbers]
        both = np.repeat(np.arange(self.steps.size).reshape(-1, self.kinds), 2, axis=0).ravel()
        from_lane, to_lane = self.order[both], larger.order
        old, new = self.views(cell), larger.views(new_cell)
        for name, part in old.items():
            if name in ("prior", "weights", "totals", "moves"):
                new[name][to_lane] = part[from_lane]
            elif name in ("points", "duals") and part.size:
                by_lane = part.transpose(0, 2, 1).reshape(-1, dim)[from_lane]
                rows = np.zeros((new[name].shape[0] * 4, dim))
                rows[to_lane] = by_lane
                new[name][:] = rows.reshape(-1, 4, dim).transpose(0, 2, 1)
            elif part.size:
                new[name][:] = part
        new["weights"][:] /= 2.0
        return new_cell

    def clock_at(self, updates: int) -> float:
        """Return the clock of an update, counted from 1."""
        if self.schedule in ("fixed", "adaptive"):
            return self.clock
        rounds_so_far = max(updates, 1)
        return float(2 ** (rounds_so_far.bit_length() - 1) if self.schedule == "doubling" else rounds_so_far)


def pool_size(clock: float, growth: float) -> int:
    """Return the paper's number of base-learners, ceil(log2(1 + growth * clock) / 2) + 1."""
    count = 1
    while 4.0 ** (count - 1) < 1.0 + growth * clock:
        count += 1
    return count
