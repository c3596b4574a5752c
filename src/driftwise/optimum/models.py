"""Models in cvxpy, which is optional (the extra 'convex'), handed to Clarabel."""

import warnings
from types import ModuleType
from typing import Any

from driftwise.errors import MissingExtraError

_OPTIONS = {"tol_gap_rel": 1e-9, "tol_gap_abs": 1e-9, "tol_feas": 1e-9, "accept_unknown": True}


def need_cvxpy(purpose: str) -> ModuleType:
    """Return cvxpy, or say what needs it (such as "f needs cvxpy for these losses") and which extra brings it."""
    try:
        import cvxpy
    except ImportError:
        raise MissingExtraError(
            f"{purpose}, which the extra 'convex' brings: pip install 'driftwise[convex]'."
        ) from None
    module: ModuleType = cvxpy
    return module


def solve_model(cp: ModuleType, problem: Any) -> Any:
    """Solve a problem and return Clarabel's own result, which has the dual value and how it ended.

    The variables of the problem then have values, or None if there is no solution.
    """
    data, chain, inverse = problem.get_problem_data(cp.CLARABEL, solver_opts=_OPTIONS)
    raw = chain.solve_via_data(problem, data, solver_opts=_OPTIONS)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # that the solution may be inaccurate: the gap will tell
            problem.unpack_results(raw, chain, inverse)
    except cp.SolverError:
        for variable in problem.variables():
            variable.value = None
    return raw
