"""Learning without knobs, measured: the paper's stream, adversarial streams, other units, hints, whole numbers."""
