"""Self-tuned Scream: Scream for users who know only what a move costs. It is not from the paper."""

from typing import Unpack

from numpy.typing import ArrayLike

from driftwise._protocol import Rounds
from driftwise.domains import Domain
from driftwise.engine.layout import CUT, SPENT
from driftwise.learners.ensemble import Ensemble
from driftwise.learners.parts import Meta, Pool, Surrogate, wide_enough
from driftwise.movecost import MoveCost, move_cost_for


def self_tuned_pool(D: float, patience: tuple[float, ...]) -> Pool:
    """Return Scream's pool in units of distance, with four smaller steps below its smallest."""
    return Pool(D / 16.0, growth=256.0, patience=patience)


class SelfTunedScream(Ensemble):
    """Scream without knobs: no horizon, no bound on gradients, no learning rate.

    For when only gradients are known, or where less machinery is wanted; otherwise begin with `SelfTunedLearner`, which
    learns from whole losses and has this one inside. All it needs is the domain of the decisions and the cost of
    changing one, in the unit in which losses are counted.

    Parameters
    ----------
    domain : Domain
        Where decisions live; D is its diameter.
    switching_cost : float or MoveCost
        lambda, the price of moving by one unit of Euclidean distance, or prices up and down.
    start : array of shape (dim,), optional
        First decision; the feasible point nearest to the origin when left out.
    on_bad_input, late
        As in `Learner`.

    Notes
    -----
    Five things differ from `Scream`:

    - Step sizes are ``D 2^(i-5) / sqrt(sum_s |g_s|^2 + lambda |g_s|)`` for i = 1, 2, ..., more as the rounds go by:
      Scream's pool, and four smaller steps below it for streams in which there is nothing to learn. The first rounds
      use only the smallest, and the largest at most doubles when the number of rounds does.
    - Every step size has a second, patient base-learner. It holds the gradients it is given until their sum outweighs
      the price of a move, and moves by what is beyond. So does the hindsight optimum: it moves only where the sum of
      gradients reaches the price.
    - Hedge begins with equal weights, and its rate is 2 / `overhead`, where the overhead is
      ``sum_s (gap_s + lambda D |p_s - p_{s-1}|_1)``: the mixability gaps of AdaHedge [2]_, each measured with the rate
      that its weights were made with, and a bound on what changing the weights costs in movement.
    - A dead zone: the decision is the point nearest to the last one within
      ``D / (4 sqrt(t)) * lambda / (lambda + |g|)`` of the mixture, ``|g|`` being the root mean square of the gradients
      so far.
    - Gradients are clipped in length, so that one that is absurd does not make all later steps short: to c times the
      root mean square so far or c times the size of the last one, whichever is more. After n gradients other than 0, c
      is sqrt(n) / 2, but at least 3 and at most 10; what is more than 100 times that counts as if it were usual, or as
      large as the last one. So a true change of scale is let through after one round. The first gradient is believed,
      and taken back if it is more than 10 times as large as the second; up to then it has decided about nothing but one
      short step. Where clipping would take off more than sqrt(t) times the largest gradient in all, it does not.

    *Proved*, with the proof on the page *Proofs* of the documentation: the regret with switching cost to any
    comparators is at most `driftwise.regret.bounds.self_tuned_scream`, for any number of rounds and gradients of any
    size, and ``regret.certificate`` puts a run beside it. It is of the order of Scream's bound for a known horizon and
    a known bound on gradients, with log log T in place of log log P. Decisions lie in the domain. They are the same
    when losses and prices are multiplied by a number, and when losses are shifted (on a simplex, also when all
    coordinates of a gradient are). The dead zone never costs more in moves than the mixture would, and is never farther
    from it than its radius, so with gradients of at most G it adds at most G D sqrt(T) / 2 to the loss. Clipping adds
    at most D times `clipping`, at most G D sqrt(T). And what the mixture suffers (linearised losses, the base-learners'
    own moves, and the movement that comes of changing weights) is at most what any base-learner suffers, plus ``(1 +
    ln(N) / 2) * overhead`` for N of them at the end; one that joined later is counted from what the mixture had
    suffered when it joined.

    *Only measured*: how much less it costs than Scream. ``driftwise reproduce selftuned`` measures, on the paper's
    stream and on adversarial ones, and shows where Scream is ahead, and what one gradient that is a million times too
    large costs in the rounds after it. The theorem is for rounds without hints.

    The domain is the only scale that it is given. Steps are scaled to its width, so where losses grow with the square
    of the distance, a domain many times wider than the decisions will ever need makes the first rounds expensive; give
    one that is about right, and features of similar size. Two absurd gradients in a row are taken for a change of
    scale, after which all steps are short. The unit of losses does not matter as long as squares of gradients are
    within the range of floating point, from about 1e-150 to 1e90.

    ``act(hint=m)`` takes a guess m of the gradient to come. From the first hint on, every base-learner has a twin that
    heeds hints, and Hedge finds out what they are worth. A twin believes a part h of the guess: what would have been
    best for the guesses before, less what that could be by chance; the first only shows what it is worth. A twin with a
    fixed step eta that is not patient has a regret of at most ``D^2 / (2 eta) + eta / 2 sum_t |g_t - h_t|^2`` to any
    fixed decision, besides what it moves: of its steps v_t = Proj(w_t - eta (g_t - h_t)) and w_{t+1} = Proj(v_t - eta
    h_{t+1}) the second is judged where it ends.

    References
    ----------
    .. [1] Zhao, Yan, Wang, Zhou, "Non-stationary online learning with memory ...", JMLR 24, 2023.
    .. [2] de Rooij, van Erven, Gruenwald, Koolen, "Follow the leader if you can, hedge if you must", JMLR 15, 2014.

    See Also
    --------
    SelfTunedLearner : the learner to begin with; it learns from whole losses, and takes forecasts of yours.
    Scream : with constants given, and the paper's bound.
    Committee : mixes policies of your own.

    Examples
    --------
    >>> import driftwise as dw
    >>> losses = dw.streams.drifting_regression(rounds=2000, dim=3, segment=500, seed=1)
    >>> learner = dw.SelfTunedScream(dw.Ball(3), switching_cost=2.0)
    >>> round(dw.play(learner, losses, switching_cost=2.0).total, 4)
    17.2679
    """

    def __init__(
        self,
        domain: Domain,
        *,
        switching_cost: float | MoveCost,
        start: ArrayLike | None = None,
        **rounds: Unpack[Rounds],
    ) -> None:
        D = wide_enough("SelfTunedScream", domain)
        cost = move_cost_for("SelfTunedScream", switching_cost, domain.dim)
        self.switching_cost = cost.simplest
        waits = cost.largest(domain.dim) > 0.0
        super().__init__(
            domain,
            pool=self_tuned_pool(D, (0.0, 1.0) if waits else (0.0,)),
            meta=Meta(2.0, prior="equal"),
            surrogate=Surrogate(cost),
            horizon_free="self-tuned",
            start=start,
            dead_zone=0.25,
            **rounds,
        )

    @property
    def overhead(self) -> float:
        """Cost of mixing so far: mixability gaps, and the most that changes of weights can have cost in moves."""
        return self._number(SPENT)

    @property
    def clipping(self) -> float:
        """Sum of what clipping took off the lengths of gradients; at most the root of `round` times the largest."""
        return self._number(CUT)
