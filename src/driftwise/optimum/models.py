"""Models in cvxpy, which is optional (the extra 'convex'), handed to Clarabel."""

import warnings
from types import ModuleType
from typing import Any

_OPTIONS = {"tol_gap_rel": 1e-9, "tol_gap_abs": 1e-9, "tol_feas": 1e-9, "accept_unknown": True}


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
