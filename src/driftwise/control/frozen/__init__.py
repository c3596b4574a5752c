"""Policies for the machine: frozen, saved, exported to C, and asked how wrong their model may be."""

from driftwise.control.frozen.export import export_c
from driftwise.control.frozen.floor import margin_share
from driftwise.control.frozen.margins import Margins
from driftwise.control.frozen.policy import FrozenPolicy

__all__ = ["FrozenPolicy", "Margins", "export_c", "margin_share"]
