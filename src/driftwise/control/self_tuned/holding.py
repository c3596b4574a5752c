"""A loop whose input is mixed from the members of a pool: which model it goes by, its set-point, and copies of it."""

from functools import cached_property
from typing import Any

import numpy as np

from driftwise._validate import Array
from driftwise.control.controllers.loop import PolicyLoop
from driftwise.control.controllers.run import Learning
from driftwise.control.controllers.saving import resume_weights
from driftwise.control.costs import Cost, DataCost, QuadraticCost
from driftwise.control.plants import System
from driftwise.control.policies.engine import report
from driftwise.control.policies.guard import ADOPTED
from driftwise.control.policies.layout import AFRESH, LOST, NEW
from driftwise.control.policies.model import Actuator, Model, behind, follow_reference, model_of, set_point, weights_of
from driftwise.control.self_tuned.bank import fill
from driftwise.control.self_tuned.pool import (
    BANK,
    BANK_SLOTS,
    CHANGED,
    CHECK,
    COUNT,
    COUNTED,
    FINISH_CALL,
    JUDGED,
    LOOKING,
    NZ,
    POOL,
    PRIOR_AT,
    REPLAY,
    SELECTED,
    STORY,
    WANTED,
    Given,
    Sides,
    kept,
    members,
    new_pool,
    sides_of,
)
from driftwise.control.self_tuned.rounds import (
    enter,
    finish_round,
    learn_by_pool,
    place_all,
    pool_weights,
    replay,
)
from driftwise.control.self_tuned.saving import model_in, resume_pool
from driftwise.control.self_tuned.steps import finish
from driftwise.domains import SpectralBalls
from driftwise.errors import CheckpointError, InputError, StabilityError


class PooledLoop(PolicyLoop):
    """A controller whose input is mixed from the members of a pool (``self_tuned.pool``).

    Not used by itself: `SelfTunedController` says what the members are made for. Compiled rounds do all that a round
    asks for, and pause for what they cannot do: making members for a cost, for a model of the actuator, or for a
    set-point, which is done here.
    """

    records_policies = False
    _learning = Learning(PRIOR_AT, enter, learn_by_pool, pool_weights)
    domain: SpectralBalls
    _pool: Array
    _best: Model
    """The model that the members go by."""
    _linked: bool
    _given: Given
    _actuators: tuple[Actuator, ...]
    _weights: tuple[Array, Array]
    """Q and R that the members are made for."""
    _scale: Array
    _size: float
    _plant: System
    _own: Array

    def _make_pool(self, system: System, gain: Array, size: float, weights: tuple[Array, Array]) -> None:
        """Make the members for a plant, a gain in use, policies that come at a size, and the weights of a cost."""
        self._plant, self._own, self._size, self._weights = system, gain, size, weights
        model = self._model(0)
        if model is None:
            raise StabilityError(
                f"{type(self).__name__}: floating point finds no gain that is best for the cost. Bring states, inputs "
                "and weights to units in which their numbers are of similar size."
            )
        self._scale = model.scale
        self._hold(self._new_pool(model), model)
        fill(self._pool_parts, self._actuators)

    def attend(self, cost: Cost) -> None:
        """Do what compiled rounds have left to be done: begin afresh, change the model, or move to a set-point.

        For compiled loops such as that of `simulate`.
        """
        if self._cell[AFRESH] > 0.0:
            self._begin_afresh(cost)
        wanted = int(self._pool[WANTED])
        if wanted != int(self._pool[SELECTED]):
            self.try_model(wanted, cost)
        super().attend(cost)

    def _put_start(self) -> None:
        """Put new members where they are to begin, for a subclass that has a place for them."""

    def _own_members(self, states: int, inputs: int) -> Given:
        """Return members that are linear in past disturbances, for a subclass that has some."""
        return Given.none(states, inputs)

    def _model(self, number: int) -> Model | None:
        """Return the model with one of the actuators."""
        pair = behind(self._plant.A, self._plant.B, self._actuators[number])
        return model_of(*pair, self._own, *self._weights, None if number == 0 else self._scale)

    def _new_pool(self, model: Model) -> Array:
        """Return members that know nothing, in copies of a model."""
        sides = sides_of(self.domain, model, self._given, self._actuators)
        pool = new_pool(self.domain, self._size, model, self._given, sides)
        parts = POOL.views(pool, sides)
        parts["bare_A"][:], parts["bare_B"][:] = self._plant.A, self._plant.B
        parts["push"][:] = model.scale @ self._plant.B
        pool[CHECK] = self.__dict__.get("_checks", 0.0)
        return pool

    def _hold(self, pool: Array, model: Model) -> None:
        """Continue with another pool, whose addresses are not written."""
        self.__dict__.update(_pool=pool, _best=model, _linked=False)
        self.__dict__.pop("_pool_parts", None)

    @property
    def _sides(self) -> Sides:
        return sides_of(self.domain, self._best, self._given, self._actuators)

    @cached_property
    def _pool_parts(self) -> dict[str, Array]:
        """What the members are and know, by name; see ``self_tuned.pool``."""
        return POOL.views(self._pool, self._sides)

    @property
    def _decider(self) -> Array:
        if not self._linked:
            self._pool_parts["plan"][:] = self.domain.plan()
            self._pool[FINISH_CALL] = finish.address
            self.__dict__["_linked"] = True
        return self._pool

    @_decider.setter
    def _decider(self, pool: Array) -> None:
        if pool is not self._pool:
            self._hold(pool, self._best)

    def __getstate__(self) -> dict[str, Any]:
        """Return what is to be copied: neither views, nor room, nor addresses, which belong to this process."""
        state = {name: part for name, part in super().__getstate__().items() if name != "_pool_parts"}
        return {**state, "_pool": kept(self._pool, self.domain), "_linked": False}

    def __setstate__(self, saved: dict[str, Any]) -> None:
        """Make room to work in again after copying or unpickling."""
        super().__setstate__(saved)
        self._hold(POOL.with_room(self._pool, self._sides), self._best)

    def _saved(self) -> dict[str, Any]:
        """Return the state: the loop, the members, and the weights of the cost that they are made for."""
        return {**super()._saved(), "weights": list(self._weights), "pool": kept(self._pool, self.domain)}

    def _resume(self, saved: dict[str, Any]) -> None:
        """Continue from a state that was saved: with members that are made for the same cost and model."""
        owner, weights, pool = type(self).__name__, saved.pop("weights"), saved.pop("pool")
        super()._resume(saved)
        found = resume_weights(owner, weights, (self.state_dim, self.input_dim))
        self._make_members(owner, found, model_in(owner, pool, len(self._actuators)))
        resume_pool(owner, self._pool, pool, self._sides, self.domain)

    def _make_members(self, owner: str, weights: tuple[Array, Array], number: int) -> None:
        """Make members for the weights of a cost and one of the models, unless it has these."""
        same = all(np.array_equal(*pair) for pair in zip(weights, self._weights, strict=True))
        if same and number == 0:
            return
        self.__dict__["_weights"] = weights
        models = [self._model(0)]
        if models[0] is not None:
            self.__dict__["_scale"] = models[0].scale
            models.append(self._model(number))
        model = models[-1]
        if model is None:
            raise CheckpointError(f"{owner}: there is no gain that is best for the cost that it was made for.")
        self._hold(self._new_pool(model), model)
        fill(self._pool_parts, self._actuators)

    def _begin_afresh(self, cost: Cost) -> None:
        """Go on with members that know nothing; in the first round, with those that are made for the cost."""
        if self._cell[AFRESH] == NEW:
            weights = weights_of(cost, self.state_dim, self.input_dim)
            made = self._suit(weights)
            self._look(weights)
            self._write_lead()
            if made and self._pool[STORY] > 0.0:
                self._relive(0, cost)
        else:
            self._change_pool(self._best)
            self._write_lead()
        self._cell[AFRESH] = 0.0

    def _look(self, weights: tuple[Array, Array] | None) -> None:
        """Judge members by where they stand, too, if a cost has the weights that they were made for."""
        same = weights is not None and all(np.array_equal(*pair) for pair in zip(weights, self._weights, strict=True))
        self._pool[LOOKING] = same

    def _suit(self, weights: tuple[Array, Array] | None) -> bool:
        """Make the members anew for the weights of a cost, unless it has none; say whether that was done.

        Also if they are made for it already, so that the unit of costs does not matter.
        """
        before = self._weights
        if weights is None:
            return False
        self.__dict__["_weights"] = weights
        model = self._model(0)
        if model is None:
            self.__dict__["_weights"] = before
            return False
        self.__dict__["_scale"] = model.scale
        story, told = self._pool_parts["story"], self._pool[STORY]
        self._hold(self._new_pool(model), model)
        fill(self._pool_parts, self._actuators)
        self._pool_parts["story"][:], self._pool[STORY] = story, told
        self._put_start()
        return True

    def _change_pool(self, model: Model) -> None:
        """Go on with members that know nothing, in copies of a model; the bank stays."""
        before, old = self._pool, self._pool_parts
        self._hold(self._new_pool(model), model)
        for name in BANK:
            self._pool_parts[name][...] = old[name]
        self._pool[list(BANK_SLOTS)] = before[list(BANK_SLOTS)]

    def try_model(self, number: int, cost: Cost) -> None:
        """Go on with another model of the actuator, which learns from the last rounds at once.

        The bank does so by itself; for tests, and for compiling beforehand.

        Parameters
        ----------
        number : int
            Which of the models, from 0.
        cost : Cost
            The cost that the last rounds are judged by.
        """
        model = self._model(number)
        if model is None:
            self._pool[WANTED] = self._pool[SELECTED]
            return
        self._change_pool(model)
        self._pool[[SELECTED, WANTED, COUNTED]], self._pool[CHANGED] = (number, number, 1.0), self._pool[JUDGED]
        self._write_lead()
        self._relive(number, cost)
        report(self._cell, ADOPTED, float(number))

    def _relive(self, number: int, cost: Cost) -> None:
        """Let new members live through the rounds that are kept, at a cost, behind one of the actuators."""
        vector = cost.vector if isinstance(cost, DataCost) and cost.compiled else QuadraticCost(*self._weights).vector
        replay(self._cell, self._decider, vector, self._delivered(number).ravel())

    def _delivered(self, number: int) -> Array:
        """Return the inputs of the rounds that are kept as an actuator would have delivered them, oldest first."""
        count, n = int(self._pool[STORY]), self.state_dim
        rows = (
            self._pool_parts["story"][:count] if count <= REPLAY else np.roll(self._pool_parts["story"], -count, axis=0)
        )
        one, inputs = self._actuators[number], rows[:, n:]
        lag, out, last = np.asarray(one.lag), np.empty_like(inputs), np.zeros(self.input_dim)
        for k in range(len(inputs)):
            last = lag * last + (1.0 - lag) * one.gain * inputs[max(k - one.delay, 0)]
            out[k] = last
        return np.ascontiguousarray(out)

    def _aim(self, target: Array, aim: Array, cost: Cost) -> None:
        lead, _, _ = set_point(self._nominal, target, aim)
        self._rest(target, aim, lead)
        self._write_lead()

    @property
    def _nominal(self) -> Model:
        """The model that the user gave."""
        model = self._best if self._pool[SELECTED] == 0.0 else self._model(0)
        assert model is not None
        return model

    def _write_lead(self) -> None:
        """Tell the members what the set-point adds to their inputs."""
        n, parts = self.state_dim, self._parts
        self._lead_by(*set_point(self._best, parts["target"][:n], parts["aim"]))

    def _lead_by(self, lead: Array, best: Array, tilt: Array) -> None:
        """Tell the members what is added to -K x, to the best input, and to the slope of V."""
        self._parts["lead"][:] = lead
        self._pool_parts["best_lead"][:], self._pool_parts["tilt"][:] = best, tilt

    def _model_words(self, number: int | None) -> str:
        return self._actuators[int(self._pool[SELECTED]) if number is None else number].words()

    def _refer(self, rows: Array) -> None:
        led = follow_reference(self._best, rows, self._parts["aim"])
        self._rest(rows[0], self._parts["aim"].copy(), led[0])
        self._lead_by(*led)
        self.__dict__["_referred"] = True

    def _aims(self) -> tuple[Any, ...]:
        return (*super()._aims(), {name: self._pool_parts[name].copy() for name in ("best_lead", "tilt")})

    def _aim_again(self, aims: tuple[Any, ...]) -> None:
        super()._aim_again(aims)
        for name, part in aims[2].items():
            self._pool_parts[name][:] = part

    def _learn(self, x: Array, applied: Array, cost: Any) -> None:
        if self.guard is not None:  # which ends a round whose cost is out of range without learning from it
            super()._learn(x, applied, cost)
            return
        # Copies of the plant that have run away begin again before it is known whether the round is refused.
        before = {name: self._pool_parts[name].copy() for name in ("states", "inputs")}
        try:
            super()._learn(x, applied, cost)
        except BaseException:
            for name, part in before.items():
                self._pool_parts[name][:] = part
            raise

    def _miss(self, x: Array, applied: Array) -> None:
        """Let the bank explain the next state by this one; members are not judged, and nobody pauses for them."""
        if self._cell[LOST] == 0.0:
            row = self._pool_parts["story"][int(self._pool[STORY]) % REPLAY]
            row[: self.state_dim], row[self.state_dim :] = x, applied
            self._pool[STORY] += 1.0
        super()._miss(x, applied)

    def _learn_by_hand(self, cost: Cost) -> int:
        """Ask a cost that is not built in what every member pays, and for the slopes of learners over policies."""
        pool, parts, n, nz = self._decider, self._pool_parts, self.state_dim, int(self._pool[NZ])
        place_all(pool)
        for m in range(int(pool[COUNT])):
            parts["values"][m] = cost.value(parts["states"][m, :n].copy(), parts["inputs"][m].copy())
        for m, point in enumerate(parts["points"]):
            parts["slopes"][m] = 0.0
            parts["slopes"][m, :n], parts["slopes"][m, nz:] = cost.gradient(point[:n].copy(), point[nz:].copy())
        return finish_round(self._cell, pool)

    def _out_of_range(self, cost: Cost) -> InputError:
        return InputError(
            f"{type(self).__name__}.observe: {cost!r} or its gradient leaves the range of numbers in the plant of "
            "one of the learners; the plant diverges, or costs or disturbances are in units far too large. The "
            "controller is unchanged."
        )

    @property
    def weights(self) -> Array:
        """Weights of the members, in the order of `members`."""
        return self._pool_parts["weights"][: int(self._pool[COUNT])].copy()

    @property
    def members(self) -> tuple[str, ...]:
        """Names of the members, in the order of `weights`."""
        return members(int(self._pool[COUNT]), self._given)
