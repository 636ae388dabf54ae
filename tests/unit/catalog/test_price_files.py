"""Price files: what they say in either format, and everything that may be wrong with them, by line, all at once."""

from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ksolver_cli.catalog.userfile.files import check_price_file, load_price_file, problem_text
from ksolver_cli.catalog.userfile.model import Per, PriceFileError, Rate
from ksolver_cli.domain.money import CapacityType
from tests.unit.catalog.nodes import price_file, written

YAML = """
currency: EUR
source: contract 17
date: 2026-05-01
prices:
  - {node: gpu-7, hourly: 3.2, per: node}
  - {selector: {pool: batch}, monthly: 365, per: node}
  - {instance_type: m5.xlarge, region: eu-west-1, capacity_type: spot, hourly: 0.06, per: node}
  - {hourly: {vcpu: 0.03, gib: 0.004}}
  - {selector: rack=1, hourly: 2, per: gpu}
gpu_cards:
  - {card: NVIDIA-L40S, hourly: 1.1}
discounts:
  - {provider: aws, factor: 0.72}
commitments:
  - {name: ri, family: m5, count: 3, until: 2027-03-31}
"""
HEADER = "node,selector,provider,region,instance_type,capacity_type,family,hourly,monthly,per,card,factor,"
CSV = f"""{HEADER}name,count,until,currency,source,date
gpu-7,,,,,,,3.2,,node,,,,,,EUR,contract 17,2026-05-01
,pool=batch,,,,,,,365,node,,,,,,EUR,contract 17,2026-05-01
,,,eu-west-1,m5.xlarge,spot,,0.06,,node,,,,,,EUR,contract 17,2026-05-01
,,,,,,,0.03,,vcpu,,,,,,EUR,contract 17,2026-05-01
,,,,,,,0.004,,gib,,,,,,EUR,contract 17,2026-05-01
,rack=1,,,,,,2,,gpu,,,,,,EUR,contract 17,2026-05-01
,,,,,,,1.1,,,NVIDIA-L40S,,,,,EUR,contract 17,2026-05-01
,,aws,,,,,,,,,0.72,,,,,,
,,,,,,m5,,,,,,ri,3,2027-03-31,,,
"""


def problems(folder: Path, text: str, suffix: str = ".yaml") -> list[str]:
    return [problem_text(p) for p in check_price_file(written(folder, text, suffix))]


def test_yaml_says_what_it_says(tmp_path: Path) -> None:
    found = price_file(tmp_path, YAML)
    assert [p.rate.node for p in found.prices] == [3_200_000, 500_000, 60_000, None, None]
    assert (found.prices[3].rate.vcpu, found.prices[3].rate.gib) == (30_000, 4_000)
    assert found.prices[4].rate.gpu == 2_000_000
    assert {p.currency for p in found.prices} == {"EUR"}
    assert found.prices[0].source.startswith("contract 17 (")
    assert found.prices[0].source.endswith("line 6)")
    assert found.prices[0].date == "2026-05-01"
    assert found.prices[2].match.capacity_type is CapacityType.SPOT
    assert found.cards[0].micros_per_hour == 1_100_000
    assert found.discounts[0].factor == Decimal("0.72")
    assert (found.commitments[0].count, found.commitments[0].until) == (3, date(2027, 3, 31))


def test_csv_says_the_same(tmp_path: Path) -> None:
    yaml, csv = price_file(tmp_path, YAML), price_file(tmp_path, CSV, ".csv")
    assert [(p.match, p.rate, p.currency, p.date) for p in yaml.prices] == [
        (p.match, p.rate, p.currency, p.date) for p in csv.prices
    ]
    assert [(c.card, c.micros_per_hour) for c in yaml.cards] == [(c.card, c.micros_per_hour) for c in csv.cards]
    assert [(d.match, d.factor) for d in yaml.discounts] == [(d.match, d.factor) for d in csv.discounts]
    assert [(c.name, c.match, c.until) for c in yaml.commitments] == [
        (c.name, c.match, c.until) for c in csv.commitments
    ]


def test_a_good_file_has_no_problems(tmp_path: Path) -> None:
    assert problems(tmp_path, YAML) == []
    assert problems(tmp_path, CSV, ".csv") == []


def test_json_is_yaml(tmp_path: Path) -> None:
    found = price_file(
        tmp_path, '{"currency": "USD", "prices": [{"node": "a", "hourly": 0.1, "per": "node"}]}', ".json"
    )
    assert found.prices[0].rate.node == 100_000


def test_numbers_never_pass_through_a_float(tmp_path: Path) -> None:
    found = price_file(tmp_path, "currency: USD\nprices: [{node: a, hourly: 123456.7890125, per: node}]")
    assert found.prices[0].rate.node == 123_456_789_012


def test_all_problems_come_at_once_with_their_lines(tmp_path: Path) -> None:
    text = """currency: usd
prices:
  - {node: a, hourly: -1, per: node, currency: USD}
  - {node: b, hourly: 1, per: hour, currency: USD}
  - {node: c, per: node, currency: USD}
  - {node: d, hourly: 1, monthly: 2, per: node, currency: USD}
  - {node: e, hourly: 1, currency: USD}
  - {node: f, hourly: 1, per: node, colour: red, currency: USD}
  - {node: g, hourly: "1,5", per: node, currency: USD}
  - {node: h, hourly: $3, per: node, currency: USD}
  - {node: i, hourly: 1, per: node, currency: USD}
  - {node: i, hourly: 2, per: node, currency: USD}
  - {selector: "a=(b", hourly: 2, per: node, currency: USD}
  - {node: k, hourly: 0.0000001, per: node, currency: USD}
  - {node: l, hourly: .nan, per: node, currency: USD}
  - {instance_type: x, capacity_type: cheap, hourly: 1, per: node, currency: USD}
  - {node: m, hourly: 1, per: node}
discounts:
  - {factor: 28}
commitments:
  - {count: 2, until: 2027-01-01}
  - {family: m5, until: tomorrow}
extras: 1
"""
    lines = [p.line for p in check_price_file(written(tmp_path, text))]
    assert lines == [1, 3, 4, 5, 6, 7, 8, 9, 10, 12, 13, 14, 15, 16, 19, 21, 22, 23]
    with pytest.raises(PriceFileError) as error:
        load_price_file(tmp_path / "prices.yaml")
    assert len(error.value.problems) == len(lines)
    assert "and 13 more" in str(error.value)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ("[{node: a, hourly: 1, per: node}]", "never assumed"),
        ("[{node: a, hourly: 1, per: node, currency: XXQ}]", "ISO 4217"),
        ("[{hourly: {vcpu: 1}, currency: USD}]", "needs one per gib"),
        ("[{hourly: {gib: 1}, currency: USD}]", "needs one per vcpu"),
        ("[{node: a, hourly: 1, per: node, currency: USD}, {node: a, hourly: 1, per: gpu, currency: USD}]", "keep one"),
        ("[{node: a, hourly: 1, per: vcpu, currency: USD}, {node: a, hourly: 1, per: gib, currency: EUR}]", "another"),
        ("[{node: a, node: b, hourly: 1, per: node, currency: USD}]", "twice"),
        ("[3]", "mapping"),
        ("3", "list"),
        ("[{node: a, hourly: [1], per: node, currency: USD}]", "single value"),
        ("[{node: a, hourly: {week: 1}, currency: USD}]", "one amount for each"),
        ("[{node: a, hourly: 1, per: node, currency: USD, date: yesterday}]", "2027-03-31"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, rows: str, words: str) -> None:
    assert words in " ".join(problems(tmp_path, f"prices: {rows}"))


def test_zero_and_nothing_are_different(tmp_path: Path) -> None:
    assert problems(tmp_path, "currency: USD\nprices: [{node: a, hourly: 0, per: node}]") == []
    assert "state one amount" in problems(tmp_path, "currency: USD\nprices: [{node: a, hourly: , per: node}]")[0]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("instance_type,hourly,per,currency,price\nm5.large,1,node,USD,1\n", "unknown column"),
        ("node,node,hourly,per,currency\na,b,1,node,USD\n", "there twice"),
        ("node,hourly,per,currency\na,1,node,USD,oops\n", "5 cells under 4 columns"),
        ("node,hourly,per,currency,factor\na,1,node,USD,0.5\n", "no meaning in a row of discounts"),
    ],
)
def test_csv_columns_are_checked(tmp_path: Path, text: str, words: str) -> None:
    assert words in " ".join(problems(tmp_path, text, ".csv"))


@pytest.mark.parametrize(
    ("text", "suffix"),
    [
        ("", ".csv"),
        ("", ".yaml"),
        ("- a\n", ".yaml"),
        ("a: [1\n", ".yaml"),
        ('a,"b\n', ".csv"),
        ("[" * 10_000, ".yaml"),
    ],
)
def test_what_is_no_price_file_is_said_in_one_error(tmp_path: Path, text: str, suffix: str) -> None:
    with pytest.raises(PriceFileError) as error:
        check_price_file(written(tmp_path, text, suffix))
    assert "prices" in str(error.value)
    assert error.value.advice


def test_a_missing_or_binary_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(PriceFileError, match="cannot read"):
        check_price_file(tmp_path / "none.yaml")
    (tmp_path / "binary.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(PriceFileError, match="cannot read"):
        check_price_file(tmp_path / "binary.csv")


# What can hardly be meant: reported by the check, no reason to refuse the file.


def listed(*rows: str) -> str:
    return "instance_type,region,capacity_type,hourly,monthly,per,currency\n" + "\n".join(rows) + "\n"


def only_checked(folder: Path, text: str) -> list[str]:
    load_price_file(written(folder, text, ".csv"))
    return problems(folder, text, ".csv")


def test_spot_above_on_demand(tmp_path: Path) -> None:
    rows = listed("x9.large,here,on-demand,0.1,,node,USD", "x9.large,here,spot,0.11,,node,USD")
    assert only_checked(tmp_path, rows) == ["line 3, hourly: spot x9.large at 0.11 is above on-demand, 0.10 in line 2"]
    assert only_checked(tmp_path, rows.replace("0.11", "0.1")) == []
    assert only_checked(tmp_path, rows.replace("spot,0.11,,node,USD", "spot,0.11,,node,EUR")) == []


def test_siblings_out_of_proportion(tmp_path: Path) -> None:
    rows = listed(*(f"x9.{n}xlarge,here,,{price},,node,USD" for n, price in ((2, 0.4), (4, 0.8), (8, 16), (16, 3.2))))
    found = only_checked(tmp_path, rows)
    assert found == ["line 4, hourly: x9.8xlarge at 16.00 an hour is 10.00 times what its siblings cost by size"]


def test_gpu_sizes_are_no_siblings(tmp_path: Path) -> None:
    sizes = (("xlarge", 1.006), ("2xlarge", 1.212), ("4xlarge", 1.624), ("8xlarge", 2.448))
    assert only_checked(tmp_path, listed(*(f"g5.{n},us-east-1,,{price},,node,USD" for n, price in sizes))) == []


def test_a_month_given_as_an_hour(tmp_path: Path) -> None:
    assert "looks like an amount a month" in only_checked(tmp_path, listed("m5.xlarge,us-east-1,,140.16,,node,USD"))[0]
    assert "looks like an amount an hour" in only_checked(tmp_path, listed("m5.xlarge,us-east-1,,,0.192,node,USD"))[0]
    assert only_checked(tmp_path, listed("m5.xlarge,us-east-1,,,140.16,node,USD")) == []


# Whatever is in the file


FIELDS = st.sampled_from(
    ["currency", "prices", "node", "selector", "hourly", "per", "until", "factor", "<<", "*a", "&a"]
)
VALUES = st.one_of(
    st.text(max_size=6), st.sampled_from(["1", "USD", "node", "a=b", "2027-01-01", "[1]", "{a: b}", "~"])
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=200)
@given(st.lists(st.tuples(FIELDS, VALUES), max_size=6), st.sampled_from([".yaml", ".csv"]), st.booleans())
def test_no_file_ends_in_a_traceback(tmp_path: Path, pairs: list[tuple[str, str]], suffix: str, in_list: bool) -> None:
    lead = "currency: USD\nprices:\n  - " if in_list else ""
    body = "\n    ".join(f"{k}: {v}" for k, v in pairs) if suffix == ".yaml" else ""
    text = lead + body if suffix == ".yaml" else ",".join(k for k, _ in pairs) + "\n" + ",".join(v for _, v in pairs)
    path = tmp_path / f"any{suffix}"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    try:
        found = check_price_file(path)
    except PriceFileError:
        return
    assert all(p.line >= 0 and p.message for p in found)


def test_every_unit_has_an_amount() -> None:
    for per in Per:
        assert Rate().with_amount(per, 7).amount(per) == 7
