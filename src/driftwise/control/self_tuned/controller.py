"""A controller without knobs: many learners over policies, each in a plant of its own, mixed by their costs."""

from functools import cached_property
from typing import Any

from numpy.typing import ArrayLike

from driftwise._validate import Array, whole
from driftwise.control.controllers.loop import PolicyLoop
from driftwise.control.controllers.run import Learning
from driftwise.control.costs import Cost
from driftwise.control.plants import System
from driftwise.control.policies.disturbance_action import stable_loop
from driftwise.control.policies.scales import WIDTH, gain_size, loop_memory
from driftwise.control.self_tuned.plants import enter
from driftwise.control.self_tuned.pool import COUNT, FINISH_CALL, MIXTURE_AT, POOL, kept, members, new_pool, sides_of
from driftwise.control.self_tuned.rounds import finish_round, learn_by_pool, place_all, pool_weights
from driftwise.control.self_tuned.steps import finish
from driftwise.domains import SpectralBalls
from driftwise.engine.rounds import OK
from driftwise.errors import InputError


class SelfTunedController(PolicyLoop):
    """Needs nothing but the plant: no horizon, no bound on disturbances or costs, no step size.

    The controller to begin with. Each of a pool of learners over disturbance-action policies is followed in a plant of
    its own, under the disturbances that were recovered, and judged by what it would have cost there, moving included.
    The policy in use is their mixture:

    - one that stays at M = 0, which is u = -K x, with half of the weight at first: where the past tells nothing,
      little is lost;
    - seven that descend along the gradient, with steps from 2^-10 to 4 times D / sqrt(sum of squared gradients) for
      gains of size D, shorter in the first H rounds, and five with a step for every coordinate (AdaGrad);
    - four that fit a quadratic cost by recursive least squares, in which a round counts for 1, 0.999, 0.99 or 0.97 in
      the next, and move by at most D / sqrt(H + rounds that count). They fit `QuadraticCost` only: in rounds with any
      other cost they stay where they are. They are left out where a policy has more than 400 entries.

    Decisions are the same whatever the unit of costs, whatever the unit of states and inputs, and whatever constant is
    added to the costs. Rounds in which states are over three times as large as usual count for less, so that a glitch
    does not throw policies far away; still, one that is a thousand times as large as usual makes the next few hundred
    rounds more expensive.

    Parameters
    ----------
    system : System
        The plant; the controller uses its nominal (A, B).
    K : array of shape (du, dx), optional
        Gain that stabilises the plant; `lqr` with unit weights when left out. What is learnt comes on top of the gain.
    memory : int, optional
        H, the number of past disturbances that the policy answers to. When left out, as many as it takes the closed
        loop to bring a disturbance down to a tenth, from 10 to 200.
    radii : float or array of shape (H,), optional
        Largest spectral norms of M[1], ..., M[H]; four times the size D of a good gain when left out.
    input_bound : float or array of shape (du,), optional
        Largest size of each input.

    Attributes
    ----------
    members : tuple of str
        Names of the learners, in the order of `weights`.
    domain : SpectralBalls
        Where policies live.

    Notes
    -----
    Nothing is proved. What was measured, beside `GradientController` with the step that is best in hindsight, LQR and
    `ScreamController`, is printed by ``driftwise reproduce control``.

    The learners are mixed by AdaHedge, whose rate comes from what mixing has cost so far: a rate from the range of the
    costs would be ruled by learners with steps that are far too long. It is a mixture of policies, as one of the inputs
    would be open-loop, and a plant that is unstable runs away under it. The learners' own plants are the nominal linear
    system, without an input bound. In the first rounds, when all that is known speaks for bold policies, it is bolder
    than `ScreamController`: on a plant that tips over this may cost more than is saved later.

    A round takes time in proportion to 17 n (dx + du), with n = H du dx the entries of a policy, and to
    n^2 ((dx + du) / 2 + 6) for least squares: some 15 microseconds at n = 20, half a millisecond at n = 300.

    References
    ----------
    .. [1] de Rooij, van Erven, Grunwald, Koolen, "Follow the leader if you can, hedge if you must", JMLR 15, 2014.
    .. [2] Agarwal, Bullins, Hazan, Kakade, Singh, "Online control with adversarial disturbances", ICML 2019.

    Examples
    --------
    >>> import driftwise as dw
    >>> plant = dw.control.double_integrator()
    >>> cost, waves = dw.control.QuadraticCost(1.0, 1.0), dw.control.SinusoidDisturbance(0.3, period=40.0, seed=1)
    >>> controller = dw.control.SelfTunedController(plant)
    >>> trace = dw.control.simulate(plant, controller, cost, waves, rounds=2000)
    >>> lqr = dw.control.simulate(plant, dw.control.LinearController(plant), cost, waves, rounds=2000)
    >>> round(trace.total / lqr.total, 3)
    0.482
    >>> controller.weights.shape, controller.members[-1]
    ((17,), 'least squares 0.97')
    """

    _learning = Learning(MIXTURE_AT, enter, learn_by_pool, pool_weights)

    def __init__(
        self,
        system: System,
        K: ArrayLike | None = None,
        memory: int | None = None,
        *,
        radii: ArrayLike | None = None,
        input_bound: ArrayLike | None = None,
    ) -> None:
        owner = type(self).__name__
        gain, closed = stable_loop(owner, system, K)
        H = loop_memory(closed) if memory is None else whole(owner, "memory", memory)
        size = gain_size(system, gain)
        shape = (H, system.input_dim, system.state_dim)
        self.domain = SpectralBalls(shape, WIDTH * size if radii is None else radii)
        self._hold(new_pool(self.domain, size))
        super().__init__(system, gain, H, input_bound=input_bound)

    def _hold(self, pool: Array) -> None:
        """Continue with another pool, whose addresses are not written."""
        self.__dict__.pop("_pool_parts", None)
        self._pool, self._linked = pool, False

    @cached_property
    def _pool_parts(self) -> dict[str, Array]:
        """What the learners are and know, by name; see ``self_tuned.pool``."""
        return POOL.views(self._pool, sides_of(self.domain))

    @property
    def _decider(self) -> Array:
        if not self._linked:
            self._pool_parts["plan"][:] = self.domain.plan()
            self._pool[FINISH_CALL] = finish.address
            self._linked = True
        return self._pool

    @_decider.setter
    def _decider(self, cell: Array) -> None:
        if cell is not self._pool:
            self._hold(cell)

    def __getstate__(self) -> dict[str, Any]:
        """Return what is to be copied: neither views, nor room, nor addresses, which belong to this process."""
        state = {name: part for name, part in super().__getstate__().items() if name != "_pool_parts"}
        return {**state, "_pool": kept(self._pool, self.domain), "_linked": False}

    def __setstate__(self, saved: dict[str, Any]) -> None:
        """Make room to work in again after copying or unpickling."""
        super().__setstate__(saved)
        self._hold(POOL.with_room(self._pool, sides_of(self.domain)))

    def _decision(self) -> Array:
        return self._pool_parts["mixture"]

    @property
    def weights(self) -> Array:
        """Weights of the learners, in the order of `members`."""
        return self._pool_parts["weights"][: int(self._pool[COUNT])].copy()

    @property
    def members(self) -> tuple[str, ...]:
        """Names of the learners, in the order of `weights`."""
        return members(int(self._pool[COUNT]))

    @property
    def guarantee(self) -> str:
        """What is promised about this controller's regret."""
        return "No bound on the regret is proved: the controller tunes itself, and was measured only."

    def _learn_by_hand(self, cost: Cost) -> None:
        """Ask a cost that is not built in what every learner pays, and for the slopes."""
        pool, parts, dx = self._decider, self._pool_parts, self.state_dim
        place_all(self._cell, pool)
        for m, point in enumerate(parts["points"]):
            parts["values"][m] = cost.value(parts["states"][m].copy(), parts["inputs"][m].copy())
            parts["slopes"][m, :dx], parts["slopes"][m, dx:] = cost.gradient(point[:dx].copy(), point[dx:].copy())
        if finish_round(self._cell, pool) != OK:
            raise self._out_of_range(cost)

    def _out_of_range(self, cost: Cost) -> InputError:
        return InputError(
            f"{type(self).__name__}.observe: {cost!r} or its gradient leaves the range of numbers in the plant of "
            "one of the learners; the plant diverges, or costs or disturbances are in units far too large. The "
            "controller is unchanged."
        )
