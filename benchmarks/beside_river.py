"""Hold our models for river against river's own on the streams that river ships: what they cost, in errors and time.

Run with ``python benchmarks/beside_river.py`` (minutes; with ``--rounds 150`` seconds). Every model predicts a round
and then learns from it, behind the same StandardScaler. River's models have their default settings; "tuned" ones have
those that turned out to be the cheapest on that very stream, at that very price, which nobody knows beforehand. The
page *river* of the documentation has the numbers.
"""

import argparse
import math
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice, product
from typing import Any, NamedTuple

import numpy as np
from river import base, datasets, dummy, ensemble, forest, linear_model, multiclass, optim, preprocessing, stats

from driftwise.adapters.river import DriftClassifier, DriftCombiner, DriftRegressor

PRICES = (0.0, 0.1, 1.0, 10.0)
"""What it costs to move coefficients by 1: for labels as such, for numbers in standard deviations of the target."""
RATES = tuple(10.0 ** (k / 2.0) for k in range(-8, 1))
FORGETTING = (None, 0.999, 0.99, 0.9, 0.7)
WEIGHINGS = tuple(10.0**k for k in range(-6, 1))
LEAST = 1e-3
"""A probability below this counts as this, which is kind to those that say 0."""
CONSTANT = "constant"
"""A feature that is always 1, for models without an intercept."""


class Round(NamedTuple):
    """A round: features as they are scaled when it is predicted, and when it is learnt, and the target."""

    seen: dict[Any, float]
    learnt: dict[Any, float]
    target: Any


def rounds(stream: Any, count: int) -> list[Round]:
    """Return the first rounds of a stream, scaled as river's pipelines do."""
    scaler: Any = preprocessing.StandardScaler()
    found = []
    for x, y in islice(stream, count):
        seen = scaler.transform_one(x)
        scaler.learn_one(x)
        found.append(Round(seen, scaler.transform_one(x), y))
    return found


def lagged(stream: Any, lags: Sequence[int]) -> Iterator[tuple[dict[Any, float], float]]:
    """Yield the targets of a stream with those before them as features."""
    past: list[float] = []
    for _, y in stream:
        if len(past) >= max(lags):
            yield {f"lag {lag}": past[-lag] for lag in lags}, float(y)
        past.append(float(y))


shipped: Any = datasets
linear: Any = linear_model
NUMBERS: dict[str, Callable[[], Any]] = {
    "TrumpApproval": shipped.TrumpApproval,
    "WaterFlow": lambda: lagged(shipped.WaterFlow(), (1, 2, 24)),
    "ChickWeights": shipped.ChickWeights,
    "SP500Stocks": shipped.SP500Stocks,
    "AirlinePassengers": lambda: lagged(shipped.AirlinePassengers(), (1, 12)),
    "FriedmanDrift": lambda: shipped.synth.FriedmanDrift("gra", position=(1700, 3400), seed=0),
}
"""Streams whose only feature is the time have their own past instead. Our learner was designed with an eye on the first
two, so these prove nothing."""
LABELS: dict[str, Callable[[], Any]] = {
    "Phishing": shipped.Phishing,
    "Bananas": shipped.Bananas,
    "Shuttle": lambda: ((x, y == 1) for x, y in shipped.Shuttle()),
    "Hyperplane": lambda: (
        (x, y == 1) for x, y in shipped.synth.Hyperplane(seed=0, n_features=10, n_drift_features=5, mag_change=0.01)
    ),
}
MANY = {"ImageSegments": shipped.ImageSegments}


class Contender(NamedTuple):
    """A model in one setting or more, of which the best counts."""

    settings: Sequence[Callable[[], Any]]
    constant: bool = False


def stepping(kind: Any, rate: float, level: float | None = None) -> Any:
    """Return a model that goes down gradients by a rate, and has an intercept with another if one is given."""
    return kind(optim.SGD(rate)) if level is None else kind(optim.SGD(rate), intercept_lr=level)


def of_all_rates(kind: Any) -> Contender:
    """Return a model in every pair of step sizes, of the coefficients and of the intercept."""
    return Contender([partial(stepping, kind, *pair) for pair in product(RATES, RATES)])


BAYES = "BayesianLinearRegression"
FOREST, PATCHES = "Adaptive Random Forest", "Streaming Random Patches"
LINES = {
    "LinearRegression": Contender([linear.LinearRegression]),
    "LinearRegression, tuned": of_all_rates(linear.LinearRegression),
    BAYES: Contender([linear.BayesianLinearRegression], constant=True),
    f"{BAYES}, tuned": Contender([partial(linear.BayesianLinearRegression, smoothing=s) for s in FORGETTING], True),
    "PARegressor": Contender([linear.PARegressor]),
}
REGRESSORS = {
    "DriftRegressor (ours)": Contender([DriftRegressor]),
    "DriftRegressor, absolute (ours)": Contender([partial(DriftRegressor, "absolute")]),
    **LINES,
    FOREST: Contender([partial(forest.ARFRegressor, seed=0)]),
    PATCHES: Contender([partial(ensemble.SRPRegressor, seed=0)]),
    "mean of the past": Contender([lambda: dummy.StatisticRegressor(stats.Mean())]),
}
MIXED = (BAYES, FOREST, "DriftRegressor (ours)")
"""Whose predictions are mixed."""
PLANES = {
    "LogisticRegression": Contender([linear.LogisticRegression]),
    "LogisticRegression, tuned": of_all_rates(linear.LogisticRegression),
    "ALMAClassifier": Contender([linear.ALMAClassifier], constant=True),
    "PAClassifier": Contender([linear.PAClassifier]),
}
OTHERS = {
    FOREST: Contender([partial(forest.ARFClassifier, seed=0)]),
    PATCHES: Contender([partial(ensemble.SRPClassifier, seed=0)]),
    "shares of the past": Contender([dummy.PriorClassifier]),
}
OURS = {"DriftClassifier (ours)": Contender([DriftClassifier])}
SOFTMAX = {
    "SoftmaxRegression": Contender([linear.SoftmaxRegression], constant=True),
    "SoftmaxRegression, tuned": Contender([partial(stepping, linear.SoftmaxRegression, rate) for rate in RATES], True),
    "LogisticRegression, one vs rest": Contender([lambda: multiclass.OneVsRestClassifier(linear.LogisticRegression())]),
}


class Run(NamedTuple):
    """What a model predicted in every round, how far its coefficients went, and microseconds of CPU time a round."""

    predicted: list[Any]
    path: float
    spent: float


def coefficients(model: Any, names: Sequence[Any]) -> list[float]:
    """Return the coefficients of a linear model of river, and its intercept if it has one."""
    if isinstance(model, linear.BayesianLinearRegression):
        return [model.predict_one({name: 1.0}) for name in names]
    if isinstance(model, linear.ALMAClassifier):
        return [model.w.get(name, 0.0) for name in names]
    return [*(model.weights.get(name, 0.0) for name in names), model.intercept]


def progressive(model: Any, given: list[Round], follow: bool = False) -> Run:
    """Predict every round and learn from it; follow the coefficients on their way if that is wanted."""
    predict = model.predict_proba_one if isinstance(model, base.Classifier) else model.predict_one
    names, predicted, path = sorted({name for one in given for name in one.learnt}, key=str), [], 0.0
    ours = isinstance(model, DriftRegressor | DriftClassifier)
    here = coefficients(model, names) if follow and not ours else []
    start = time.process_time()
    for one in given:
        predicted.append(predict(one.seen))
        model.learn_one(one.learnt, one.target)
        if here:
            before, here = here, coefficients(model, names)
            path += math.dist(before, here)
    spent = 1e6 * (time.process_time() - start) / len(given)
    return Run(predicted, model.moved if ours else path, spent)


def runs(contender: Contender, given: list[Round], follow: bool = False) -> list[Run]:
    """Run a contender in all its settings."""
    if contender.constant:
        given = [Round({CONSTANT: 1.0, **one.seen}, {CONSTANT: 1.0, **one.learnt}, one.target) for one in given]
    with np.errstate(all="ignore"):  # steps that are too long diverge
        return [progressive(make(), given, follow) for make in contender.settings]


def mean_error(given: list[Round], predicted: list[Any]) -> float:
    return float(np.mean([abs(p - one.target) for p, one in zip(predicted, given, strict=True)]))


def half_square(given: list[Round], predicted: list[Any]) -> float:
    """Return half the mean squared error in units of the variance of the target."""
    gaps = [p - one.target for p, one in zip(predicted, given, strict=True)]
    return float(np.mean([0.5 * gap * gap for gap in gaps]) / np.var([one.target for one in given]))


def log_loss(given: list[Round], predicted: list[Any]) -> float:
    shares = [p.get(one.target, 0.0) for p, one in zip(predicted, given, strict=True)]
    return float(-np.mean(np.log(np.clip(shares, LEAST, 1.0))))


def misses(given: list[Round], predicted: list[Any]) -> float:
    """Return the percentage of labels that were not thought the most likely."""
    pairs = zip(predicted, given, strict=True)
    return 100.0 * float(np.mean([not p or max(p, key=p.get) != one.target for p, one in pairs]))


Loss = Callable[[list[Round], list[Any]], float]


def least(costs: Sequence[float]) -> int:
    """Return where the least cost is; one that is no number is the largest."""
    return int(np.argmin([cost if math.isfinite(cost) else math.inf for cost in costs]))


def best(contender: Contender, given: list[Round], loss: Loss) -> Run:
    """Return the best run of a contender."""
    found = runs(contender, given)
    return found[least([loss(given, run.predicted) for run in found])]


class Replayed(base.Regressor):
    """Says what another model said in every round, so that a mixture of it need not run it again."""

    def __init__(self, said: list[float]) -> None:
        self.said, self.rounds = said, 0

    def predict_one(self, x: dict[Any, Any]) -> float:
        """Return what was said in this round."""
        return self.said[self.rounds]

    def learn_one(self, x: dict[Any, Any], y: Any) -> None:
        """Go to the next round, if there is one."""
        self.rounds = min(self.rounds + 1, len(self.said) - 1)


def mixtures(given: list[Round], found: dict[str, Run]) -> dict[str, Run]:
    """Mix the predictions of three models: by river's exponential weights at the best of many rates, and by ours."""

    def models() -> list[Any]:
        return [Replayed(found[name].predicted) for name in MIXED]

    weighted = [lambda rate=rate: ensemble.EWARegressor(models(), learning_rate=rate) for rate in WEIGHINGS]
    return {
        "EWARegressor of three, tuned": best(Contender(weighted), given, mean_error),
        "DriftCombiner of three (ours)": best(Contender([lambda: DriftCombiner(models())]), given, mean_error),
    }


def show(title: str, columns: Sequence[str], rows: dict[str, list[float]]) -> None:
    """Print a table of numbers."""
    wide, widths = max(map(len, rows)), [max(len(name), 6) + 2 for name in columns]
    print(f"\n{title}\n{'':{wide}}" + "".join(f"{name:>{width}}" for name, width in zip(columns, widths, strict=True)))
    for name, values in rows.items():
        cells = zip(values, widths, strict=True)
        print(f"{name:{wide}}" + "".join(f"{value:{width}.4g}" for value, width in cells))


def compare(title: str, streams: dict[str, list[Round]], contenders: dict[str, Contender], losses: list[Loss]) -> None:
    """Print what everybody loses on every stream, and takes a round; the first loss is what the tuned are tuned for."""
    rows: dict[str, list[float]] = {}
    spent: dict[str, list[float]] = {}
    for given in streams.values():
        found = {who: best(contender, given, losses[0]) for who, contender in contenders.items()}
        if losses == [mean_error]:
            found |= mixtures(given, found)
        for who, run in found.items():
            rows.setdefault(who, []).extend(loss(given, run.predicted) for loss in losses)
            spent.setdefault(who, []).append(run.spent)
    columns = [name if loss is losses[0] else "missed, %" for name in streams for loss in losses]
    show(title, [*columns, "CPU us a round"], {who: [*row, float(np.median(spent[who]))] for who, row in rows.items()})


def priced(title: str, streams: dict[str, list[Round]], theirs: dict[str, Contender], ours: Any, loss: Loss) -> None:
    """Print what linear models cost a round, moves included, at every price; ours are told the price."""
    rows: dict[str, list[float]] = {}
    for name, given in streams.items():
        unit = 1.0 if loss is log_loss else float(np.std([one.target for one in given]))
        each = len(given) * unit
        found = {who: runs(contender, given, True) for who, contender in theirs.items()}
        lost = {who: [(loss(given, run.predicted), run.path / each) for run in of] for who, of in found.items()}
        for price in PRICES:
            run = progressive(ours(switching_cost=price * unit), given)
            costs = [loss(given, run.predicted) + price * run.path / each]
            for of in lost.values():
                totals = [one + price * path for one, path in of]
                costs.append(totals[least(totals)])
            rows[f"{name} at {price:g}"] = costs
    show(title, ["ours", *theirs], rows)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5000, help="rounds of a stream, at most")
    count = parser.parse_args().rounds
    numbers, labels, many = (
        {name: rounds(make(), count) for name, make in streams.items()} for streams in (NUMBERS, LABELS, MANY)
    )
    print("rounds: " + ", ".join(f"{name} {len(given)}" for name, given in (numbers | labels | many).items()))
    compare("Mean absolute error", numbers, REGRESSORS, [mean_error])
    compare("Logarithmic loss", labels, OURS | PLANES | OTHERS, [log_loss, misses])
    compare("Logarithmic loss", many, OURS | SOFTMAX | OTHERS, [log_loss, misses])
    title = "Cost a round, with moves: "
    priced(f"{title}squared error / 2, in variances of the target", numbers, LINES, DriftRegressor, half_square)
    priced(f"{title}logarithmic loss", labels, PLANES, DriftClassifier, log_loss)


if __name__ == "__main__":
    main()
