"""Self-tuned control: members that forecast or learn, mixed by what each would have cost, with nothing to be tuned.

`reference` states the algorithm in NumPy. The compiled one, which the tests hold against it: `pool` says what there is,
`bank` explains every new state and judges models of the actuator, `copies` lets every member run a copy of the plant,
`forecasts` foresees disturbances, `steps` moves the learners over policies and weighs everybody, and `rounds` is a
whole round. `holding` keeps a pool, `answers` reads the policy in use off it, `demands` is what users may ask for, and
`controller` makes a controller of it.
"""

from driftwise.control.self_tuned.controller import SelfTunedController

__all__ = ["SelfTunedController"]
