from __future__ import annotations

import math
from collections.abc import Iterator
from typing import ClassVar

import pytest
from pydantic import Field, create_model

from thzsync.scenario import Optical, Scenario, Thz, described, preset_names
from thzsync.scenario.base import Model
from thzsync.scenario.described import describe


def all_models(model: type[Model] = Model) -> Iterator[type[Model]]:
    for child in model.__subclasses__():
        yield child
        yield from all_models(child)


@pytest.mark.parametrize("model", list(all_models()), ids=lambda model: model.__name__)
def test_every_field_is_described(model: type[Model]) -> None:
    describe()
    for name, field in model.model_fields.items():
        assert field.description, f"{model.__name__}.{name}"


UNITS = {"_s": "[s]", "_w": "[W]", "_hz": "[Hz]", "_m": "[m]", "_bps": "[bit/s]", "_db": "[dB"}


@pytest.mark.parametrize("model", list(all_models()), ids=lambda model: model.__name__)
def test_a_field_with_a_unit_in_its_name_says_so(model: type[Model]) -> None:
    describe()
    for name, field in model.model_fields.items():
        for suffix, unit in UNITS.items():
            if name.endswith(suffix) and "_per_" not in name:
                assert unit in (field.description or ""), f"{model.__name__}.{name}"


def test_the_paper_preset_states_the_papers_values() -> None:
    paper = Scenario.paper()
    assert (paper.floor.rings, paper.floor.lanes, paper.floor.racks) == (4, 8, 32)
    assert (paper.floor.inner_radius_m, paper.floor.ring_spacing_m) == (4, 2)
    assert paper.optical.access_bps == paper.optical.inter_bps == 100e9
    assert paper.optical.energy_j_per_bit_hop == 40e-12
    assert (paper.thz.subbands, paper.thz.subband_hz) == (4, 5e9)
    assert paper.thz.centres_hz == (292.5e9, 297.5e9, 302.5e9, 307.5e9)
    assert (paper.thz.receive_gain_db, paper.thz.max_power_w) == (25, 0.1)
    assert paper.collectives.chunk_bytes == 512 * 2**10
    assert (paper.reward.time_weight, paper.reward.energy_weight) == (0.7, 0.3)
    training = paper.jobs[0].training
    assert training is not None
    assert (training.microbatches, training.allreduce_buckets) == (8, 4)
    assert len(training.moe_stages) == 2
    sizes = (training.p2p_bytes, training.a2a_bytes_per_rack, training.allreduce_bytes)
    assert sizes == (16 * 2**20, 12 * 2**20, 128 * 2**20)


def test_presets_have_the_stated_shapes() -> None:
    shapes = {name: Scenario.preset(name).floor for name in preset_names()}
    assert shapes["pod-1024"].racks == 1024
    assert shapes["single-ring"].slots_per_ring == 16
    assert shapes["single-ring"].inner_radius_m + shapes["single-ring"].ring_spacing_m == 10
    assert shapes["tiny"].racks == 6


def test_noise_is_the_thermal_density_raised_by_the_noise_figure() -> None:
    thz = Thz(subband_hz=5e9, noise_figure_db=0, interference_w=1e-12)
    assert 10 * math.log10((thz.noise_w - 1e-12) * 1e3 / 5e9) == pytest.approx(-174)
    louder = Thz(subband_hz=5e9, noise_figure_db=10)
    assert louder.noise_w == pytest.approx(10 * (thz.noise_w - 1e-12))


def test_a_scenario_is_frozen() -> None:
    with pytest.raises(ValueError, match="frozen"):
        Scenario.paper().name = "other"  # type: ignore[misc]


def test_fibre_rates_are_whole_bits_per_second() -> None:
    """The packet kernel rounds them, and an audit that did not would find other utilisations."""
    assert Optical(access_bps=137851735.3).access_bps == 137851735.0


def test_odd_models_do_not_keep_others_from_being_described() -> None:
    class Odd(Model):
        constant: ClassVar[int] = 3
        """Not a field."""
        told: int = Field(default=1, description="given")
        """Not asked for."""

    create_model("Made", __base__=Model, key=(int, 1))
    describe()
    assert Odd.model_fields["told"].description == "given"
    assert Scenario.model_fields["floor"].description


def test_without_sources_there_are_no_descriptions_and_no_complaint(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("inspect.getsource", _no_source)
    assert described._docstrings.__wrapped__("thzsync.scenario.base") == {}


def _no_source(module: object) -> str:
    raise OSError("could not get source code")


@pytest.mark.parametrize(
    ("old", "new"), [("reckoned", "model-based"), ("reckoned-even", "model-based-even")]
)
def test_a_search_may_be_given_by_its_old_name(old: str, new: str) -> None:
    with pytest.warns(FutureWarning, match=f'"{new}"'):
        given = Scenario.paper().with_({"coordinator.search": old})
    assert given == Scenario.paper().with_({"coordinator.search": new})


def test_a_renamed_search_leaves_digests_as_they_were() -> None:
    """Records of version 0.3 hold this digest of the preset."""
    known = "cea4cf741dfe83523043223e2cdfcf0b59c9780012c26e43fcc57c05e00842ea"
    assert Scenario.preset("beyond").digest == known
    assert Scenario.preset("pipelined") == Scenario.preset("beyond")
