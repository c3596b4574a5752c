"""A stream of river, where changing coefficients costs
====================================================

Six polls, one approval rating, and a model whose coefficients are not to change for nothing.

The stream ships with river, and so does all that is around the model: a scaler, pipelines, `predict_one` and
`learn_one`. Each unit by which a coefficient moves costs 10, in units of half a squared error; think of a formula that
was published. You see what each model costs from the day on which all have found the level, and how that adds up.
"""

import numpy as np
from matplotlib import pyplot as plt
from river import datasets, linear_model, optim, preprocessing

from driftwise.adapters.river import DriftRegressor

PRICE, BEGIN = 10.0, 100

models = {
    "river's LinearRegression": linear_model.LinearRegression(optim.SGD(0.01), intercept_lr=0.1),
    "DriftRegressor, moves are free": DriftRegressor(),
    f"DriftRegressor, moves cost {PRICE:g}": DriftRegressor(switching_cost=PRICE),
}
names = ["gallup", "ipsos", "morning_consult", "ordinal_date", "rasmussen", "you_gov"]


def intercept(model: linear_model.LinearRegression | DriftRegressor) -> float:
    """Return the constant term of a model."""
    return model.intercept_ if isinstance(model, DriftRegressor) else model.intercept


ax = plt.subplots(figsize=(9, 3.5), layout="constrained")[1]
print(f"{'after the first ' + str(BEGIN) + ' days':32}{'errors':>9}{'moves':>9}{'together':>10}")
for name, model in models.items():
    pipeline = preprocessing.StandardScaler() | model
    errors, path = [], []
    for x, y in datasets.TrumpApproval():
        errors.append(y - pipeline.predict_one(x))
        path.append([intercept(model), *(model.weights.get(poll, 0.0) for poll in names)])
        pipeline.learn_one(x, y)
    lost = 0.5 * np.square(errors[BEGIN:])
    moved = PRICE * np.linalg.norm(np.diff(path[BEGIN - 1 :], axis=0), axis=1)
    print(f"{name:32}{lost.sum():9.1f}{moved.sum():9.1f}{(lost + moved).sum():10.1f}")
    ax.plot(range(BEGIN, len(errors)), np.cumsum(lost + moved), label=name)
ax.set(xlabel="day", ylabel="cost of errors and moves so far", ylim=0.0)
ax.legend()
plt.show()
