"""A frozen policy as one C99 file without dependencies, which computes the same bits as the Python one.

The code follows ``kernels`` operation by operation. Constants are hexadecimal, so that no digit is lost.
"""

import os
import re
from collections.abc import Iterator

from driftwise._compile import LARGEST
from driftwise._validate import Array, checked, describe, instance
from driftwise.control.frozen.code import HEADER, OBSERVER, STATES, STEP, TEST
from driftwise.control.frozen.files import write_text
from driftwise.control.frozen.layout import constants
from driftwise.control.frozen.policy import FrozenPolicy
from driftwise.errors import ParameterError


@checked
def export_c(policy: FrozenPolicy, path: str | os.PathLike[str], *, name: str = "controller") -> None:
    """Write a policy as one C99 file, without memory allocation, libraries or anything else that it needs.

    It has a state and three functions, here for the default name: ``controller_init(&state)``, then once a
    sampling period ``controller_step(&state, x, u)``, which writes the input u for the sample x (the output, if the
    policy has an observer; a null pointer if the sample is missing), and ``controller_applied(&state, u)`` if the
    actuator did something else. Compiled without fused operations (``-ffp-contract=off``) and without ``-ffast-math``,
    it gives the same inputs as `FrozenPolicy.act`, bit for bit.

    Parameters
    ----------
    policy : FrozenPolicy
        The policy; what it remembers of past rounds is not exported.
    path : str or path
        The file; one that exists is replaced, in a single step.
    name : str, default "controller"
        What all names in the file begin with: letters, digits and underscores, a letter first, at most 40.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from driftwise.control.frozen import FrozenPolicy, export_c
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     export_c(FrozenPolicy([[0.9]], [[1.0]], [[0.5]]), Path(folder) / "heater.c", name="heater")
    ...     "void heater_step(heater_state *s, const double *x, double *u)" in (Path(folder) / "heater.c").read_text()
    True
    """
    owner = "export_c"
    instance(owner, "policy", policy, FrozenPolicy, "controller.freeze() or FrozenPolicy(A, B, K, M)")
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,39}", name):
        raise ParameterError(
            f"{owner}: name must be letters, digits and underscores, a letter first and at most 40, such as "
            f"'controller', got {describe(name)}."
        )
    write_text(owner, path, c_code(policy, name))


def c_code(policy: FrozenPolicy, name: str) -> str:
    """Return the text of the file."""
    law, sides = policy.law, policy.law.sides
    words = {
        "name": name,
        "NAME": name.upper(),
        "kind": "measured output y" if law.observed else "measured state x",
        "largest": LARGEST.hex(),
        "gap": f"    double gap[{name.upper()}_WIDTH]; /* the last innovation */\n" if law.observed else "",
        "forget": f"    for (i = 0; i < {name.upper()}_WIDTH; ++i)\n        s->gap[i] = 0.0;\n" if law.observed else "",
        "observe": (OBSERVER if law.observed else STATES).strip("\n"),
        **{side: str(size) for side, size in sides.items()},
    }
    words["constants"] = "\n".join(_tables(policy, name))
    return "".join(_filled(part, words) for part in (HEADER, STEP, TEST))


def _filled(text: str, words: dict[str, str]) -> str:
    """Put words where a text has their names between at signs, those inside words as well."""
    while "@" in text:
        text = re.sub(r"@(\w+)@", lambda found: words[found[1]], text)
    return text


def _tables(policy: FrozenPolicy, name: str) -> Iterator[str]:
    """Give the definitions of all constants."""
    for part, values in constants(policy.law).items():
        if values.size:
            sides = "".join(f"[{side}]" for side in values.shape)
            yield f"static const double {name}_{part}{sides} = {_braced(values, '')};"


def _braced(values: Array, indent: str) -> str:
    """Return an array as C writes it, a row to a line."""
    if values.ndim == 1:
        return "{" + ", ".join(value.hex() for value in values.tolist()) + "}"
    deeper = indent + "    "
    rows = ",\n".join(deeper + _braced(row, deeper) for row in values)
    return f"{{\n{rows}\n{indent}}}"
