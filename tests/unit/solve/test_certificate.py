import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ksolver_cli.domain.plan import Limits
from ksolver_cli.solve.bound.certificate import certified_bound, lift
from ksolver_cli.solve.bound.highs import Ended, Lp
from ksolver_cli.solve.bound.sparse import RowBuilder, Rows
from ksolver_cli.solve.solution import Run

INF = float("inf")


def _programme(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray, Rows]:
    size = int(rng.integers(2, 7))
    cost = rng.integers(0, 9, size).astype(float) * 1e6
    builder = RowBuilder.empty()
    for _ in range(int(rng.integers(1, 6))):
        values = rng.integers(-4, 9, size)
        builder.add(np.arange(size), values, float(rng.integers(0, 12)) if rng.random() < 0.6 else -INF, INF)
        builder.add(np.arange(size), rng.integers(0, 9, size), -INF, float(rng.integers(20, 90)))
    return cost, np.zeros(size), np.full(size, 5.0), builder.build()


@given(st.integers(0, 10_000))
def test_optimal_duals_certify_the_optimum(seed: int) -> None:
    cost, lower, upper, rows = _programme(np.random.default_rng(seed))
    result = Lp(cost, lower, upper, rows).solve(Run(Limits()))
    if result.ended is not Ended.OPTIMAL:
        return
    bound = certified_bound(cost, lower, upper, rows, result.duals)
    assert bound <= result.objective + 1e-3
    assert bound >= result.objective - 1.0


@given(st.integers(0, 10_000))
def test_any_multipliers_give_a_bound(seed: int) -> None:
    rng = np.random.default_rng(seed)
    cost, lower, upper, rows = _programme(rng)
    result = Lp(cost, lower, upper, rows).solve(Run(Limits()))
    if result.ended is Ended.OPTIMAL:
        multipliers = rng.normal(0.0, 1e6, rows.count)
        assert certified_bound(cost, lower, upper, rows, multipliers) <= result.objective + 1e-3


def test_a_bound_is_lifted_to_the_next_sum_of_prices() -> None:
    prices = np.array([192_000, 340_000, 252_000, 384_000])
    assert lift(6_165_554.4, prices) == 6_168_000
    assert lift(6_168_000.0, prices) == 6_168_000
    assert lift(-5.0, prices) == 0
    assert lift(float("-inf"), prices) == 0
