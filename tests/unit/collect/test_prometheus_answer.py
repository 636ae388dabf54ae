"""Answers of the HTTP API: recorded ones, odd ones, merged ones."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ksolver_cli.collect.prometheus_answer import Answer, PrometheusError, Series, merge_answers, read_answer
from tests.paths import DATA

RECORDED = DATA / "prom" / "prom_api"


def recorded(name: str) -> object:
    if not RECORDED.is_dir():
        pytest.skip(f"no shared data at {RECORDED}")
    return json.loads((RECORDED / name).read_text())


def test_nan_is_no_value() -> None:
    values = {series.labels["pod"]: series.last for series in read_answer(recorded("vector_instant.json")).series}
    assert values == {"a": 123456789.0, "b": None}


def test_an_empty_result_is_no_series() -> None:
    assert read_answer(recorded("empty_result.json")) == Answer()


def test_an_error_response_is_an_error_whatever_its_http_status() -> None:
    with pytest.raises(PrometheusError, match="bad_data"):
        read_answer(recorded("error_response.json"))


def test_warnings_and_partial_results_are_kept() -> None:
    document = {
        "status": "success",
        "isPartial": True,
        "warnings": ["store   gateway\nis down"],
        "data": {"resultType": "vector", "result": []},
    }
    assert read_answer(document) == Answer((), ("store gateway is down",), partial=True)


def test_scalars_and_native_histograms() -> None:
    scalar = {"status": "success", "data": {"resultType": "scalar", "result": [1, "2.5"]}}
    assert read_answer(scalar).series == (Series({}, ((1.0, 2.5),)),)
    histogram = {"metric": {"a": "b"}, "histogram": [1, {"count": "3"}]}
    answer = read_answer({"status": "success", "data": {"resultType": "vector", "result": [histogram]}})
    assert answer.series[0].last is None


def test_pieces_of_one_series_are_joined_in_time() -> None:
    late, early = Series({"a": "1"}, ((3, 3), (4, 4))), Series({"a": "1"}, ((1, 1), (3, 3)))
    merged = merge_answers([Answer((late,)), Answer((early, Series({"a": "2"}, ())), ("w",)), Answer((), ("w",), True)])
    assert merged.series[0].samples == ((1, 1), (3, 3), (4, 4))
    assert (len(merged.series), merged.warnings, merged.partial) == (2, ("w",), True)


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
NUMBER = st.one_of(
    st.floats().map(str), st.integers().map(str), st.sampled_from(["NaN", "+Inf", "-Inf", "1e3", ""]), JSON
)
POINT = st.one_of(st.tuples(NUMBER, NUMBER).map(list), JSON)
ENTRY = st.one_of(
    st.fixed_dictionaries({}, optional={"metric": JSON, "value": POINT, "values": st.lists(POINT, max_size=4) | JSON}),
    JSON,
)
DOCUMENT = st.fixed_dictionaries(
    {"status": st.sampled_from(["success", "success", "success", "error", "odd"])},
    optional={
        "data": st.fixed_dictionaries(
            {},
            optional={
                "resultType": st.sampled_from(["vector", "matrix", "scalar", "string"]),
                "result": st.lists(ENTRY),
            },
        )
        | JSON,
        "warnings": JSON,
        "error": JSON,
        "isPartial": JSON,
    },
)


@given(DOCUMENT | JSON)
def test_no_document_crashes_the_reader_and_no_nan_gets_through(document: object) -> None:
    try:
        answer = read_answer(document)
    except PrometheusError:
        return
    for series in answer.series:
        assert all(isinstance(name, str) and isinstance(value, str) for name, value in series.labels.items())
        assert all(math.isfinite(time) and not math.isnan(value) for time, value in series.samples)
        assert list(series.samples) == sorted(series.samples)
