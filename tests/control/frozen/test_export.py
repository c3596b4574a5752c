"""Exported C code is compiled, and gives the same bits as the Python policy in thousands of rounds."""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from driftwise._validate import Array
from driftwise.control.frozen import FrozenPolicy, export_c
from driftwise.errors import ParameterError, StorageError
from tests.cases import check_refused
from tests.control.frozen.cases import KINDS, drawn, with_everything

COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
compiled = pytest.mark.skipif(COMPILER is None, reason="there is no C compiler")
FLAGS = ("-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-ffp-contract=off")

Command = tuple[str, Array | None]


def commands(policy: FrozenPolicy, rounds: int, seed: int) -> list[Command]:
    """Return what happens to a controller: samples, good and bad, missing ones, other inputs, new beginnings."""
    rng, found = np.random.default_rng(seed), list[Command]()
    for _ in range(rounds):
        chance, sample = rng.random(), rng.standard_normal(policy.law.sides["width"]) * 10.0 ** rng.integers(-3, 3)
        if chance < 0.05:
            sample[rng.integers(sample.size)] = rng.choice([np.nan, np.inf, -np.inf, 1e150, -1e99])
        found.append(("m", None) if 0.05 < chance < 0.1 else ("s", sample))
        if 0.1 < chance < 0.2:
            found.append(("a", rng.standard_normal(policy.input_dim)))
        if chance > 0.995:
            found.append(("r", None))
    return found


def in_python(policy: FrozenPolicy, given: list[Command]) -> Array:
    inputs = []
    for verb, values in given:
        if verb == "r":
            policy.reset()
        elif verb == "a" and values is not None:
            policy.applied(values)
        else:
            inputs.append(policy.act(values))
    return np.array(inputs)


def in_c(policy: FrozenPolicy, given: list[Command], folder: Path, optimised: str, name: str = "controller") -> Array:
    source, program = folder / f"{name}.c", folder / name
    export_c(policy, source, name=name)
    assert COMPILER is not None
    subprocess.run(
        [COMPILER, *FLAGS, optimised, f"-D{name.upper()}_MAIN", str(source), "-o", str(program)], check=True, timeout=60
    )
    lines = [" ".join([verb, *([] if values is None else map(float.hex, values.tolist()))]) for verb, values in given]
    ran = subprocess.run([str(program)], input="\n".join(lines), capture_output=True, text=True, check=True, timeout=60)
    return np.array([[float.fromhex(word) for word in line.split()] for line in ran.stdout.splitlines()])


@compiled
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("seed", "optimised"), [(0, "-O2"), (1, "-O0"), (2, "-O3"), (6, "-O2")])
def test_c_gives_the_same_bits(tmp_path: Path, kind: str, seed: int, optimised: str) -> None:
    policy = with_everything(seed, kind) if seed != 6 else drawn(seed, kind)
    given = commands(policy, 3000, seed)
    expected, found = in_python(policy, given), in_c(policy, given, tmp_path, optimised)
    assert expected.shape == found.shape
    assert len(np.unique(expected)) > 500
    assert expected.tobytes() == found.tobytes()


@compiled
def test_a_model_that_diverges_does_so_alike(tmp_path: Path) -> None:
    policy = FrozenPolicy([[-3.0]], [[2.0]], [[5.0]], [[[7.0]], [[1e90]]], rest=[-0.0])
    samples = [("s", np.array([1e99])), *[("m", None)] * 400, ("s", np.array([-1e100])), *[("m", None)] * 50]
    expected = in_python(policy, samples)
    assert np.abs(expected).max() == 1e100
    assert expected.tobytes() == in_c(policy, samples, tmp_path, "-O2").tobytes()


@compiled
def test_an_input_that_is_no_number_was_not_applied(tmp_path: Path) -> None:
    policy = drawn(1, rate=0.1)
    rows: list[Command] = [("s", np.ones(policy.state_dim))] * 3
    bad: Command = ("a", np.full(policy.input_dim, np.nan))
    assert in_c(policy, [*rows[:2], bad, rows[2]], tmp_path, "-O2").tobytes() == in_python(policy, rows).tobytes()


@compiled
def test_two_controllers_fit_into_one_program(tmp_path: Path) -> None:
    for name in ("left_motor", "Right2"):
        export_c(drawn(1, "observer"), tmp_path / f"{name}.c", name=name)
    sources = [str(tmp_path / f"{name}.c") for name in ("left_motor", "Right2")]
    (tmp_path / "main.c").write_text('#include "left_motor.c"\n#include "Right2.c"\nint main(void) { return 0; }\n')
    assert COMPILER is not None
    subprocess.run([COMPILER, *FLAGS, "-O2", str(tmp_path / "main.c"), "-o", str(tmp_path / "both")], check=True)
    objects = [str(tmp_path / f"{k}.o") for k in range(2)]
    for source, target in zip(sources, objects, strict=True):
        subprocess.run([COMPILER, *FLAGS, "-ffreestanding", "-O2", "-c", source, "-o", target], check=True)


def test_nothing_is_included_or_allocated_outside_of_the_test_program(tmp_path: Path) -> None:
    export_c(drawn(2, "observer and delay"), tmp_path / "c.c")
    code = (tmp_path / "c.c").read_text().partition("#ifdef CONTROLLER_MAIN")[0]
    for word in ("#include", "malloc", "@", "0x1.p", "inf", "nan"):
        assert word not in code.replace("infinite", "")
    assert "-ffp-contract=off" in code


def test_a_file_is_replaced_and_nothing_else_is_left(tmp_path: Path) -> None:
    for policy in (drawn(1), drawn(2)):
        export_c(policy, str(tmp_path / "c.c"))
    again = (tmp_path / "c.c").read_text()
    export_c(drawn(2), tmp_path / "c.c")
    assert (tmp_path / "c.c").read_text() == again
    assert [one.name for one in tmp_path.iterdir()] == ["c.c"]


@pytest.mark.parametrize("name", ["", "2nd", "a-b", "a b", "naïve", "_hidden", "a" * 41, "x;system", "a\n", None, 3])
def test_names_that_c_does_not_take_are_refused(tmp_path: Path, name: str) -> None:
    check_refused(
        lambda: export_c(drawn(1), tmp_path / "c.c", name=name), "name", "a letter first", kind=ParameterError
    )
    assert list(tmp_path.iterdir()) == []


def test_bad_input_is_refused(tmp_path: Path) -> None:
    check_refused(lambda: export_c("policy", tmp_path / "c.c"), "policy", kind=ParameterError)  # type: ignore[arg-type]
    check_refused(lambda: export_c(drawn(1), tmp_path / "none" / "c.c"), "cannot be written", kind=StorageError)
    check_refused(lambda: export_c(drawn(1), tmp_path), "cannot be written", kind=StorageError)
