"""Control, measured: plants that are not known, and control without knobs, over many systems and disturbances."""
