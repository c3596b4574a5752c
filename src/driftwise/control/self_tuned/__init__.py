"""Self-tuned control: a pool of learners over policies that needs nothing but the plant.

`reference` states the algorithm in NumPy. The compiled one, which the tests hold against it: `pool` says what there is,
`plants` lets every learner run a plant of its own, `steps` moves the learners and mixes them, `least_squares` moves
those that fit a quadratic cost, and `rounds` is a whole round. `controller` makes a controller of it.
"""

from driftwise.control.self_tuned.controller import SelfTunedController

__all__ = ["SelfTunedController"]
