"""Every stopping rule, against the table of protocols 4.1."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ckgnn.errors import ConfigError
from ckgnn.train import RULES, make_rule
from ckgnn.train.rules import Decision, Measures, Rule
from tests.train.naive_rules import NAIVE

# eighths: sums are exact, and values repeat often enough for ties
numbers = st.lists(st.tuples(*[st.integers(0, 12).map(lambda v: v / 8)] * 3), min_size=1, max_size=40)


def feed(rule: Rule, rows: list[tuple[float, float, float]], first: int = 0) -> list[Decision]:
    """Feed (loss, accuracy, training loss) until the rule stops."""
    out = []
    for epoch, (loss, accuracy, train_loss) in enumerate(rows, start=first):
        out.append(rule.update(Measures(epoch, train_loss, loss, accuracy)))
        if out[-1].stop:
            break
    return out


@pytest.mark.parametrize("name", RULES)
@settings(max_examples=80, deadline=None)
@given(rows=numbers, size=st.integers(1, 6), epochs=st.integers(1, 45))
def test_stops_and_keeps_as_the_table_says(
    name: str, rows: list[tuple[float, float, float]], size: int, epochs: int
) -> None:
    stop, kept = NAIVE[name](*map(list, zip(*rows, strict=True)), size, epochs)  # type: ignore[arg-type]
    decisions = feed(make_rule(f"{name}({size})", epochs), rows)
    assert len(decisions) == (len(rows) if stop is None else stop + 1)
    assert decisions[-1].stop == (stop is not None)
    assert [t for t, d in enumerate(decisions) if d.keep] == [t for t in kept if t < len(decisions)]
    assert decisions[0].keep  # there are always weights to report


@pytest.mark.parametrize("name", RULES)
@settings(max_examples=40, deadline=None)
@given(rows=numbers, size=st.integers(1, 6), cut=st.integers(0, 40))
def test_state_goes_through_json_and_on(name: str, rows: list[tuple[float, float, float]], size: int, cut: int) -> None:
    want = feed(make_rule(f"{name}({size})", 30), rows)
    first = make_rule(f"{name}({size})", 30)
    head = feed(first, rows[:cut])
    if head and head[-1].stop:
        return
    second = make_rule(f"{name}({size})", 30)
    second.restore(json.loads(json.dumps(first.state())))
    assert head + feed(second, rows[cut:], first=cut) == want


DEFAULTS = {
    "common": 100,
    "gcn-window": 10,
    "fastgcn-window": 10,
    "gwnn": 100,
    "gat": 100,
    "gat-acc": 100,
    "pyg": 10,
    "shchur": 50,
    "fixed": 200,
    "dgi": 20,
    "kim": 25,
}


def test_the_numbers_unless_given() -> None:
    assert {name: make_rule(name, 1000).size for name in RULES} == DEFAULTS


@pytest.mark.parametrize("text", ["gat(7)", " gat ( 7 ) ", "gat( 7)"])
def test_the_number_may_be_changed(text: str) -> None:
    assert make_rule(text, 100).size == 7


@pytest.mark.parametrize(
    "text", ["", "gta", "gat(", "gat()", "gat(-1)", "gat(1.5)", "gat(x)", "GAT", "gat 5", "fixed(3)x"]
)
def test_an_unknown_rule_lists_the_valid_ones(text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        make_rule(text, 100)
    assert all(name in str(caught.value) for name in RULES)
    assert repr(text) in str(caught.value)


def test_the_number_must_be_positive() -> None:
    with pytest.raises(ConfigError, match=r"'gat\(0\)' must be at least 1"):
        make_rule("gat(0)", 100)


def test_a_rule_sees_nothing_of_the_test_set() -> None:
    assert set(Measures.__dataclass_fields__) == {"epoch", "train_loss", "val_loss", "val_accuracy"}
