"""What goes over the wire, in both directions: the requests that are taken, the answers that are given."""

from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from driftwise.losses import (
    AbsoluteLoss,
    CapacityLoss,
    HuberLoss,
    LinearLoss,
    LogisticLoss,
    QuantileLoss,
    RoundLoss,
    SquaredLoss,
    TrackingLoss,
)
from driftwise.movecost import MoveCost

MOST = 10_000
"""Most numbers in a list."""

KEY = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"
"""What a key looks like."""


class Given(BaseModel):
    """Numbers are finite, and nothing is guessed: no number in quotes, no field that is not known."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


Many = Annotated[list[float], Field(min_length=1, max_length=MOST)]
Numbers = float | Many
Name = Annotated[str, StringConstraints(min_length=1, max_length=64)]
Round = Annotated[int, Field(ge=0, le=2**53)]


def row(numbers: Numbers) -> Any:
    """Return numbers as the one row of a stream."""
    return np.atleast_1d(np.asarray(numbers, np.float64))[None]


class Capacity(Given):
    """``price w + shortage max(demand - w, 0)`` in each coordinate: what is held, and what is missing."""

    kind: Literal["capacity"]
    demand: Numbers
    shortage: Numbers = 5.0
    price: Numbers = 1.0

    def loss(self) -> RoundLoss:
        """Return the loss that a learner takes."""
        return CapacityLoss(row(self.demand), self.shortage, self.price)[0]


class Tracking(Given):
    """``|w - target|^2 / 2``: the decision should have been near the target."""

    kind: Literal["tracking"]
    target: Numbers

    def loss(self) -> RoundLoss:
        """Return the loss that a learner takes."""
        return TrackingLoss(row(self.target))[0]


class Linear(Given):
    """``<vector, w>``: prices, or the losses of experts."""

    kind: Literal["linear"]
    vector: Numbers

    def loss(self) -> RoundLoss:
        """Return the loss that a learner takes."""
        return LinearLoss(row(self.vector))[0]


class Regression(Given):
    """A forecast ``<features, w>`` of a target."""

    kind: Literal["squared", "absolute", "logistic"]
    features: Numbers = 1.0
    target: float

    def loss(self) -> RoundLoss:
        """Return the loss that a learner takes."""
        kinds = {"squared": SquaredLoss, "absolute": AbsoluteLoss, "logistic": LogisticLoss}
        return kinds[self.kind](row(self.features), [self.target])[0]


class Huber(Given):
    """Squared within `delta` of the target, and linear beyond."""

    kind: Literal["huber"]
    features: Numbers = 1.0
    target: float
    delta: float = 1.0

    def loss(self) -> RoundLoss:
        """Return the loss that a learner takes."""
        return HuberLoss(row(self.features), [self.target], self.delta)[0]


class Quantile(Given):
    """A forecast of a quantile of the target."""

    kind: Literal["quantile"]
    features: Numbers = 1.0
    target: float
    quantile: float = 0.5

    def loss(self) -> RoundLoss:
        """Return the loss that a learner takes."""
        return QuantileLoss(row(self.features), [self.target], self.quantile)[0]


Loss = Annotated[Capacity | Tracking | Linear | Regression | Huber | Quantile, Field(discriminator="kind")]


class Prices(Given):
    """What a move up costs, and a move down."""

    up: Numbers
    down: Numbers


class Asked(Given):
    """What `act` may be given; nothing of it is needed."""

    proposal: Numbers | Annotated[dict[Name, Numbers | None], Field(max_length=16)] | None = None
    hint: Numbers | None = None
    switching_cost: Annotated[float, Field(ge=0.0)] | Prices | None = None
    round: Round | None = None

    def given(self) -> dict[str, Any]:
        """Return what is given of it, as JSON, in one way of writing it."""
        return self.model_dump(exclude_none=True, exclude={"round"})

    def price(self) -> float | MoveCost | None:
        """Return the price of the round."""
        cost = self.switching_cost
        return MoveCost(up=cost.up, down=cost.down) if isinstance(cost, Prices) else cost


class Told(Given):
    """What the round's decision has cost: a loss, or its gradient, or that nobody knows."""

    loss: Loss | None = None
    gradient: Numbers | None = None
    skip: Literal[True] | None = None
    round: Round | None = None

    @model_validator(mode="after")
    def one_of_them(self) -> "Told":
        """Refuse more than one of them, and none."""
        if (self.loss is not None) + (self.gradient is not None) + (self.skip is not None) != 1:
            raise ValueError('give one of "loss", "gradient" and "skip": true')
        return self

    def given(self) -> dict[str, Any]:
        """Return what is given of it, as JSON, in one way of writing it."""
        return self.model_dump(exclude_none=True, exclude={"round"})


class Answer(BaseModel):
    """What is answered."""

    key: str


class Decided(Answer):
    """A decision: that of the round that `observe` will end."""

    round: int
    decision: list[float]
    value: int | float | None = Field(description="The decision as a number, if it has one coordinate.")


class Learnt(Answer):
    """That it was taken in, and will not be lost."""

    round: int = Field(description="The round that it was for.")
    rounds: int = Field(description="How many rounds are over.")
    repeated: bool = Field(description="Whether it had been taken in before, so that nothing has changed.")


class Paid(BaseModel):
    """What has been paid, as far as it is known here."""

    running: float = Field(description="Losses of the decisions, of the rounds that were told as losses, on time.")
    counted: int = Field(description="How many rounds that is.")
    moving: float | None = Field(description="The price of all moves, if the learner knows prices.")


class Weights(BaseModel):
    """How sure the learner is of one of the ways to decide that it weighs."""

    count: int
    largest: float


class BothPrices(BaseModel):
    """What a unit up costs, and a unit down."""

    up: float | list[float]
    down: float | list[float]


class Settings(BaseModel):
    """What a learner was made with, which it keeps; null where it knows no such thing."""

    low: list[float] | None
    high: list[float] | None
    switching_cost: float | BothPrices | None = Field(description="The price of a move, where a round brings no other.")
    period: int | None
    late: int = Field(description="How many rounds late feedback may come.")
    whole: bool = Field(description="Whether it decides on whole numbers.")


class State(Answer):
    """A learner at a glance; asking changes nothing."""

    learner: str
    settings: Settings
    round: int = Field(description="How many rounds are over.")
    open: bool = Field(description="Whether there is a decision that `observe` is to be called for.")
    decision: list[float] | None = Field(description="The latest decision, which is in force.")
    value: int | float | None = Field(description="The same as a number, if it has one coordinate.")
    moves: int = Field(description="How often the decision has changed.")
    paid: Paid
    skipped: int
    refused: int
    weights: Weights


class Keys(BaseModel):
    """Some of the keys, in order."""

    count: int = Field(description="How many there are in all.")
    keys: list[str]


class Gone(Answer):
    """What was forgotten."""

    rounds: int


class Health(BaseModel):
    """That requests are taken."""

    status: Literal["ok"]


class Problem(BaseModel):
    """What was wrong; nothing has changed."""

    error: str
    kind: str
