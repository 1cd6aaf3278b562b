"""Errors of several runs become one verdict per collective type, no firmer than the evidence."""

from __future__ import annotations

import json
import warnings
from typing import Any

import pytest

from thzsync.errors import ThzSyncError
from thzsync.records.certificate import (
    BeyondToleranceWarning,
    Certificate,
    Certified,
    certify,
    judged_together,
    warn_beyond,
)
from thzsync.records.fidelity import Fidelity, KindError, Replayed, kind_error
from thzsync.scenario import Scenario
from thzsync.simulation import simulate


def found(tolerance: float, *times: tuple[str, float, float]) -> Fidelity:
    return Fidelity(tolerance, tuple(Replayed(k, *row) for k, row in enumerate(times)))


@pytest.mark.parametrize(
    ("error", "ci95", "verdict", "beyond"),
    [
        (0.0, 0.01, "within", False),
        (-0.01, 0.005, "within", False),
        (0.0, 0.03, "undecided", False),
        (-0.03, 0.015, "undecided", True),
        (-0.04, 0.01, "beyond", True),
        (0.5, None, "undecided", True),
    ],
)
def test_an_interval_that_includes_the_tolerance_decides_nothing(
    error: float, ci95: float | None, verdict: str, beyond: bool
) -> None:
    row = Certified({}, KindError("a2a", 4, error, ci95), 0.02)
    assert (row.verdict, row.beyond) == (verdict, beyond)


def test_seeds_of_one_place_are_one_sample_and_places_stay_apart() -> None:
    first, second = ("p2p", 11.0, 10.0), ("p2p", 29.0, 30.0)
    one = certify([({"policy": "a"}, found(0.1, first)), ({"policy": "a"}, found(0.1, second))])
    assert one is not None
    assert [row.found for row in one.rows] == [
        kind_error("p2p", [Replayed(0, *first), Replayed(1, *second)])
    ]
    two = certify([({"policy": "a"}, found(0.1, first)), ({"policy": "b"}, found(0.1, second))])
    assert two is not None
    assert [row.place["policy"] for row in two.rows] == ["a", "b"]
    assert [row.place["policy"] for row in two.worst()] == ["a"]
    assert [row.found.error for row in two.at("b").rows] == [pytest.approx(-1 / 30)]


def test_the_worst_place_is_the_one_farthest_beyond_its_own_tolerance() -> None:
    lax, strict = found(0.5, ("a2a", 1.2, 1.0)), found(0.01, ("a2a", 1.1, 1.0))
    told = certify([({"x": 1, "policy": "p"}, lax), ({"x": 2, "policy": "p"}, strict)])
    assert told is not None
    assert told.tolerance == 0.01
    assert [row.where for row in told.exceeded] == ["under p at x=2"]


def test_packets_need_no_certificate_and_what_was_not_replayed_gets_none() -> None:
    assert certify([({}, None)]) is None
    empty = certify([({}, found(0.02))])
    assert empty is not None
    assert not empty.rows
    assert not empty.exceeded


def test_a_certificate_survives_json_and_a_damaged_one_is_refused() -> None:
    told = certify([({"policy": "a"}, found(0.1, ("a2a", 1.2, 1.0), ("p2p", 1.0, 1.0)))])
    assert told is not None
    document = json.loads(json.dumps(told.document()))
    assert document.keys() == {"tolerance", "within", "kinds"}
    assert document["within"] is False
    assert Certificate.of_document(document, "x.json") == told
    damaged: list[Any] = [{}, 3, {"tolerance": 0.1, "kinds": [{}]}, document | {"kinds": [4]}]
    for wrong in damaged:
        with pytest.raises(ThzSyncError, match=r"x\.json: fidelity"):
            Certificate.of_document(wrong, "x.json")


@pytest.mark.parametrize(("load", "remedy"), [(0.3, "optical.trains_per_flow"), (0.8, "40%")])
def test_beyond_the_tolerance_only_what_helps_is_recommended(load: float, remedy: str) -> None:
    """Each place has the reason of its own scenario, also when it was read from a file."""
    busy = {"optical.fidelity": "flow", "optical.background.load": load}
    busy |= {"optical.fidelity_tolerance": 1e-9, "optical.replayed_share": 1.0}
    with pytest.warns(BeyondToleranceWarning) as caught:
        run = simulate(Scenario.preset("tiny").with_(busy), "all-wired", 1, references={})
    assert run.certificate is not None
    again = Certificate.of_document(run.certificate.document(), "x.json")
    assert again == run.certificate
    for warning in (str(caught[0].message), again.exceeded[0].warning):
        assert remedy in warning
        assert 'optical.fidelity = "packet"' in warning


def test_only_what_is_beyond_is_warned_of_and_not_by_runs_that_are_judged_together() -> None:
    far = certify([({"policy": "a"}, found(0.1, ("a2a", 1.2, 1.0), ("p2p", 1.0, 1.0)))])
    with pytest.warns(BeyondToleranceWarning, match=r"\ba2a\b.* \+20\.00 %") as caught:
        warn_beyond(far)
    assert len(caught) == 1
    with warnings.catch_warnings(), judged_together():
        warnings.simplefilter("error", UserWarning)
        warnings.simplefilter("ignore", BeyondToleranceWarning)
        warn_beyond(far)
        warn_beyond(None)
