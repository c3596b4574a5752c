"""Gains that stabilise a system, and how fast: LQR, strong stability, controllability, impulse responses.

The gain K acts as u = -K x, so what counts is A_K = A - B K.
"""

from driftwise.control.stability.base import spectral_radius
from driftwise.control.stability.certificate import StrongStability, certify
from driftwise.control.stability.gains import controllability, lqr
from driftwise.control.stability.response import ImpulseResponse, impulse_response

__all__ = [
    "ImpulseResponse",
    "StrongStability",
    "certify",
    "controllability",
    "impulse_response",
    "lqr",
    "spectral_radius",
]
