"""Online non-stochastic control: disturbance-action controllers that keep up with changing costs and disturbances.

A plant x' = A x + B u + w, a convex cost that is revealed after each input, and a controller with two verbs:

>>> import driftwise as dw
>>> plant = dw.control.LinearSystem([[1.0, 1.0], [0.0, 1.0]], [[0.0], [1.0]])
>>> controller = dw.control.ScreamController(plant, horizon=10_000)
>>> u = controller.act([1.0, 0.0])
>>> controller.observe(dw.control.QuadraticCost(1.0, 1.0))
"""

from driftwise.control import bounds, plots
from driftwise.control.certificates import certificate
from driftwise.control.controllers import (
    AderController,
    Controller,
    DisturbanceActionController,
    Event,
    GradientController,
    Guard,
    Health,
    LazyScreamController,
    LearningController,
    LinearController,
    PolicyController,
    ScreamController,
)
from driftwise.control.costs import (
    AbsoluteCost,
    Cost,
    CostSequence,
    CustomCost,
    HuberCost,
    QuadraticCost,
    SoftLimits,
    abrupt,
    gradual,
    pendulum,
)
from driftwise.control.frozen import FrozenPolicy, Margins, export_c
from driftwise.control.hindsight import (
    BestLinear,
    BestPolicies,
    BestPolicy,
    Clairvoyant,
    Comparator,
    best_linear,
    best_policies,
    best_policy,
    clairvoyant,
)
from driftwise.control.identification import AdaptiveController, ExploreThenCommit, Identified, identify
from driftwise.control.output import OutputFeedback
from driftwise.control.plants import (
    InvertedPendulum,
    LinearSystem,
    System,
    TimeVaryingSystem,
    double_integrator,
    random_system,
)
from driftwise.control.plants.disturbances.adversarial import AdversarialDisturbance
from driftwise.control.plants.disturbances.base import Disturbance
from driftwise.control.plants.disturbances.noise import (
    AutoregressiveDisturbance,
    GaussianDisturbance,
    RandomWalkDisturbance,
    UniformDisturbance,
)
from driftwise.control.plants.disturbances.patterns import (
    ConstantDisturbance,
    SinusoidDisturbance,
    SquareWaveDisturbance,
)
from driftwise.control.policies import DisturbanceAction, TruncatedLosses, transfer_matrices, unrolled_state
from driftwise.control.regret import dynamic_policy_regret, path_length, policy_costs, regret_over_time
from driftwise.control.self_tuned import SelfTunedController
from driftwise.control.simulate import simulate
from driftwise.control.stability import (
    ImpulseResponse,
    StrongStability,
    certify,
    controllability,
    impulse_response,
    lqr,
    spectral_radius,
)
from driftwise.control.trace import ControlTrace

__all__ = [
    "AbsoluteCost",
    "AdaptiveController",
    "AderController",
    "AdversarialDisturbance",
    "AutoregressiveDisturbance",
    "BestLinear",
    "BestPolicies",
    "BestPolicy",
    "Clairvoyant",
    "Comparator",
    "ConstantDisturbance",
    "ControlTrace",
    "Controller",
    "Cost",
    "CostSequence",
    "CustomCost",
    "Disturbance",
    "DisturbanceAction",
    "DisturbanceActionController",
    "Event",
    "ExploreThenCommit",
    "FrozenPolicy",
    "GaussianDisturbance",
    "GradientController",
    "Guard",
    "Health",
    "HuberCost",
    "Identified",
    "ImpulseResponse",
    "InvertedPendulum",
    "LazyScreamController",
    "LearningController",
    "LinearController",
    "LinearSystem",
    "Margins",
    "OutputFeedback",
    "PolicyController",
    "QuadraticCost",
    "RandomWalkDisturbance",
    "ScreamController",
    "SelfTunedController",
    "SinusoidDisturbance",
    "SoftLimits",
    "SquareWaveDisturbance",
    "StrongStability",
    "System",
    "TimeVaryingSystem",
    "TruncatedLosses",
    "UniformDisturbance",
    "abrupt",
    "best_linear",
    "best_policies",
    "best_policy",
    "bounds",
    "certificate",
    "certify",
    "clairvoyant",
    "controllability",
    "double_integrator",
    "dynamic_policy_regret",
    "export_c",
    "gradual",
    "identify",
    "impulse_response",
    "lqr",
    "path_length",
    "pendulum",
    "plots",
    "policy_costs",
    "random_system",
    "regret_over_time",
    "simulate",
    "spectral_radius",
    "transfer_matrices",
    "unrolled_state",
]
