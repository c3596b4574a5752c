"""A pool of learners over policies that needs nothing but the plant: what `SelfTunedController` is made of.

`pool` says what there is, `plants` lets every learner run a plant of its own, `steps` moves the learners,
`least_squares` those that fit a quadratic cost, and `run` is a whole simulation. All of it is compiled.
"""
