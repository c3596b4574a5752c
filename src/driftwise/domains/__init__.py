"""Convex sets of decisions with exact Euclidean projections."""

from driftwise.domains.ball import Ball
from driftwise.domains.base import Block, Domain
from driftwise.domains.box import Box
from driftwise.domains.product import Product
from driftwise.domains.simplex import Simplex
from driftwise.domains.spectral import SpectralBalls

__all__ = ["Ball", "Block", "Box", "Domain", "Product", "Simplex", "SpectralBalls"]
