"""The auditor accepts a sound run, and names what broke in a damaged one."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.auditor import hand_made
from tests.auditor.hand_made import HAND_CHECKS, MS, OVERHEAD, SCENARIO, US, Row, Rows, gain_at
from thzsync.auditor import Audit, audit
from thzsync.scenario import Scenario

P2P, A2A, SINGLE, ALLREDUCE, WIRED = range(5)
"""Numbers of the hand-made events."""


def verdict(rows: Rows, scenario: Scenario = SCENARIO) -> Audit:
    return audit(hand_made.as_run(rows, scenario), HAND_CHECKS)


def only(rows: list[Row], **wanted: object) -> Row:
    """The one row with these values."""
    (found,) = [row for row in rows if all(row[k] == v for k, v in wanted.items())]
    return found


def chunk(rows: Rows, number: int, flow: int, k: int) -> Row:
    return only(rows["chunks"], number=number, flow=flow, chunk=k)


def sent(rows: Rows, number: int, flow: int, first: int) -> Row:
    return only(rows["transmissions"], number=number, flow=flow, first_chunk=first)


def test_the_hand_made_run_is_sound() -> None:
    assert verdict(hand_made.rows()).violations == []


def test_every_check_counts_its_facts_under_its_own_name() -> None:
    checks = verdict(hand_made.rows()).checks
    assert list(checks) == [check.__name__ for check in HAND_CHECKS]
    assert [name for name, facts in checks.items() if facts == 0] == ["steering"]  # no such links


def test_counts_are_those_of_the_records() -> None:
    rows = hand_made.rows()
    checks = verdict(rows).checks
    assert checks["chunk_times"] == len(rows["chunks"])
    assert checks["gain"] == checks["rate"] == len(rows["transmissions"])
    assert checks["wired_speed"] == sum(c["carrier"] == 0 for c in rows["chunks"])
    assert checks["completion"] == checks["event_end"] == len(rows["events"])
    shards = {(f["number"], f["shard"]) for f in rows["flows"]}
    assert checks["postcondition"] == len(shards) + len(rows["blocks"])


def test_an_empty_run_is_broken_and_lists_every_check() -> None:
    found = verdict({name: [] for name in hand_made.rows()})
    assert found.broken == ["completeness"]
    assert list(found.checks) == [check.__name__ for check in HAND_CHECKS]


# -- one damage each; `settle` makes all sums agree with it, so that nothing else breaks ----------

Damage = Callable[[Rows], None]
DAMAGES: list[tuple[tuple[str, ...], Damage, str]] = []


def breaks(
    check: str, settle: str = "details", also: tuple[str, ...] = ()
) -> Callable[[Damage], Damage]:
    """A damage that breaks one check when all sums above it are settled again.

    Where no damage can break it alone, ``also`` names what breaks with it.
    """

    def register(damage: Damage) -> Damage:
        DAMAGES.append(((check, *also), damage, settle))
        return damage

    return register


@breaks("records")
def transmission_of_an_unknown_round(rows: Rows) -> None:
    rows["rounds"].pop(0)


@breaks("records")
def event_with_a_rack_that_does_not_exist(rows: Rows) -> None:
    event = rows["events"][WIRED]
    event["racks"], event["delay_ps"], event["power"] = [1, 4, 77], [0, 0, 0], [0.0, 0.0, 0.0]


@breaks("records", "nothing")
def missing_value(rows: Rows) -> None:
    rows["links"].append(dict(rows["links"][0], bytes=None))


@breaks("records", "nothing")
def chunk_of_no_flow(rows: Rows) -> None:
    rows["chunks"].append(dict(rows["chunks"][0], flow=50))


@breaks("records")
def node_of_the_graph_recorded_twice(rows: Rows) -> None:
    rows["events"][SINGLE]["node"] = rows["events"][A2A]["node"]


@breaks("chunk_times", also=("postcondition",))
def wired_chunk_ready_before_the_event_is_released(rows: Rows) -> None:
    # A flow of somebody else's data without predecessors: no other rule holds it back.
    only(rows["flows"], number=WIRED, flow=0)["local"] = False
    chunk(rows, WIRED, 0, 0)["ready_ps"] = rows["events"][WIRED]["release_ps"] - 1


@breaks("event_end", "figures", also=("static",))
def event_that_outlasts_its_last_chunk(rows: Rows) -> None:
    event = rows["events"][SINGLE]  # nothing waits for it
    longer = 1 + 5 * US / MS / event["completion_ms"]
    event["end_ps"] += 5 * US
    event["completion_ms"] *= longer
    event["algbw_gb_s"] /= longer
    event["busbw_gb_s"] /= longer


@breaks("bandwidth", "figures")
def event_that_boasts_of_its_bandwidth(rows: Rows) -> None:
    rows["events"][ALLREDUCE]["busbw_gb_s"] *= 1.001


@breaks("iteration_span", "nothing")
def iteration_that_ends_late(rows: Rows) -> None:
    last = rows["iterations"][1]
    before = last["end_ps"] - last["start_ps"]
    last["end_ps"] += 1  # within the tolerance of the quotients, but not of whole picoseconds
    last["bubble"] = 1 - (1 - last["bubble"]) * before / (before + 1)


@breaks("task_duration")
def task_that_is_too_fast(rows: Rows) -> None:
    task = rows["tasks"][1]
    task["duration_ps"] += 1


@breaks("graph_precedence")
def task_that_does_not_wait_for_an_event(rows: Rows) -> None:
    task = only(rows["tasks"], iteration=0, node=2)
    task["start_ps"] -= 1


@breaks("graph_precedence", "nothing")
def event_after_an_unknown_node(rows: Rows) -> None:
    rows["events"][WIRED]["after"] = [0, 40]


@breaks("chunk_precedence")
def chunk_that_overtakes_what_it_is_made_of(rows: Rows) -> None:
    chunk(rows, ALLREDUCE, 7, 1)["ready_ps"] -= 1


@breaks("local_release")
def chunk_that_is_ready_before_its_late_rack(rows: Rows) -> None:
    chunk(rows, P2P, 1, 1)["ready_ps"] -= 1


@breaks("ready_time", also=("round_start",))
def round_that_starts_before_its_chunk_is_ready(rows: Rows) -> None:
    chunk(rows, P2P, 0, 1)["ready_ps"] += 1


@breaks("chunks_once")
def chunk_that_is_missing(rows: Rows) -> None:
    rows["chunks"].remove(chunk(rows, WIRED, 0, 0))


@breaks("chunks_once")
def wired_chunk_that_arrives_twice(rows: Rows) -> None:
    rows["chunks"].append(dict(chunk(rows, WIRED, 0, 0)))


@breaks("blocks", "figures")
def event_that_delivers_more_than_was_asked(rows: Rows) -> None:
    rows["events"][WIRED]["payload_bytes"] -= 1


@breaks("flow_graph", also=("postcondition",))
def flow_that_waits_for_data_elsewhere(rows: Rows) -> None:
    # Flow 0 is through when rack 1 is ready, but it ends at rack 3.
    only(rows["flows"], number=P2P, flow=1)["after"] = [0]


@breaks("postcondition")
def contribution_that_is_lost(rows: Rows) -> None:
    only(rows["flows"], number=ALLREDUCE, flow=5)["local"] = False


@breaks("postcondition")
def contribution_that_is_added_twice(rows: Rows) -> None:
    only(rows["flows"], number=ALLREDUCE, flow=7)["local"] = True


@breaks("postcondition")
def partial_sum_that_nobody_waits_for(rows: Rows) -> None:
    for flow in (2, 3):
        only(rows["flows"], number=ALLREDUCE, flow=flow)["after"] = [0]


@breaks("postcondition")
def result_that_is_added_instead_of_kept(rows: Rows) -> None:
    only(rows["flows"], number=ALLREDUCE, flow=3)["reduces"] = True


@breaks("blocks", "figures")
def tensor_that_is_larger_than_its_shards(rows: Rows) -> None:
    event = rows["events"][ALLREDUCE]
    event["algbw_gb_s"] *= 1 + 1 / event["payload_bytes"]
    event["payload_bytes"] += 1


@breaks("fabric")
def thz_chunk_in_two_transmissions(rows: Rows) -> None:
    first, second = (sent(rows, P2P, 0, k) for k in (0, 1))
    second["first_chunk"] = 0
    chunk(rows, P2P, 0, 0)["end_ps"] = max(first["end_ps"], second["end_ps"])


@breaks("fabric")
def chunk_that_arrives_before_its_transmission_ends(rows: Rows) -> None:
    chunk(rows, P2P, 0, 0)["end_ps"] -= 1


@breaks("action")
def budget_that_is_no_level(rows: Rows) -> None:
    rows["events"][P2P]["power"][1] = 0.9


@breaks("action")
def budget_of_a_silent_rack(rows: Rows) -> None:
    rows["events"][P2P]["power"][2] = 0.5


@breaks("decision", "figures")
def fallback_that_is_not_counted(rows: Rows) -> None:
    rows["events"][A2A]["fallback_chunks"] = 0


@breaks("decision", "figures")
def rerouted_chunk_that_is_not_counted(rows: Rows) -> None:
    rows["events"][P2P]["rerouted_chunks"] = 0


def on_subband(rows: Rows, row: Row, subband: int) -> None:
    """Move a transmission to another subband, with the power that it needs there."""
    start = only(rows["rounds"], number=row["number"], round=row["round"])["start_ps"]
    before, after = row["gain"], gain_at(row["src"], row["dst"], subband, start)
    row.update(subband=subband, gain=after, power_w=row["power_w"] * before / after)


@breaks("half_duplex")
def rack_that_sends_twice_on_a_subband(rows: Rows) -> None:
    on_subband(rows, sent(rows, P2P, 0, 0), 1)


@breaks("half_duplex")
def rack_that_sends_and_receives_on_a_subband(rows: Rows) -> None:
    on_subband(rows, sent(rows, A2A, 0, 0), 1)  # rack 0 -> 1 beside rack 2 -> 0


@breaks("power_budget")
def event_that_exceeds_a_racks_budget(rows: Rows) -> None:
    sent(rows, P2P, 0, 1)["power_w"] = 0.055001  # beside 0.02 W of a budget of 0.075 W


@breaks("power_cap")
def rack_that_exceeds_its_maximum_over_two_events(rows: Rows) -> None:
    # Both within their budgets of 0.05 W and 0.075 W, together above 0.1 W.
    sent(rows, SINGLE, 0, 0)["power_w"] = 0.05
    sent(rows, A2A, 4, 0)["power_w"] = 0.075


@breaks("gain")
def gain_that_the_channel_did_not_have(rows: Rows) -> None:
    sent(rows, P2P, 0, 0)["gain"] *= 1 + 1e-6


@breaks("rate")
def transmission_that_is_too_weak_for_its_bytes(rows: Rows) -> None:
    sent(rows, P2P, 0, 0)["power_w"] *= 0.999


@breaks("transmission_bytes")
def transmission_that_miscounts_its_bytes(rows: Rows) -> None:
    sent(rows, P2P, 0, 0)["bytes"] -= 1


@breaks("transmission_bytes")
def transmission_from_another_rack_than_its_flow(rows: Rows) -> None:
    row = sent(rows, P2P, 1, 0)  # rack 1 has budget enough in every event
    flow = only(rows["flows"], number=P2P, flow=0)
    row["flow"], row["first_chunk"] = 0, 2
    chunk(rows, P2P, 1, 0)["carrier"] = 0
    lost, won = chunk(rows, P2P, 1, 0), chunk(rows, P2P, 0, 2)
    lost["carrier"], won["carrier"], won["end_ps"] = 0, 1, row["end_ps"]
    row["bytes"] = hand_made.size_of(flow, 2)


@breaks("round_span")
def round_that_forgets_its_overhead(rows: Rows) -> None:
    only(rows["rounds"], number=ALLREDUCE, round=1)["overhead_ps"] = 0
    sent(rows, ALLREDUCE, 2, 0)["start_ps"] -= OVERHEAD


@breaks("round_span")
def transmission_that_outlasts_its_round(rows: Rows) -> None:
    rows["rounds"][0]["end_ps"] -= 1


@breaks("round_span")
def round_that_miscounts_its_transmissions(rows: Rows) -> None:
    only(rows["rounds"], number=A2A, round=1)["transmissions"] = 3


@breaks("round_order")
def rounds_of_an_all_to_all_that_overlap(rows: Rows) -> None:
    # Its subbands are free, so nothing else forbids round 1 to begin before the boundary.
    moved = only(rows["rounds"], number=A2A, round=1)
    moved["start_ps"] -= 1
    moved["end_ps"] -= 1
    for row in rows["transmissions"]:
        if (row["number"], row["round"]) == (A2A, 1):
            row["start_ps"] -= 1
            row["end_ps"] -= 1
            row["gain"] = gain_at(row["src"], row["dst"], row["subband"], moved["start_ps"])
            chunk(rows, A2A, row["flow"], 0)["end_ps"] -= 1


@breaks("wired_speed")
def wired_chunk_that_is_faster_than_light_through_fibre(rows: Rows) -> None:
    row = chunk(rows, WIRED, 0, 1)
    # 200 kB at 100 Gbit/s take 16 us, and two switches 500 ns each.
    row["end_ps"] = row["ready_ps"] + 17 * US - 1


@breaks("link_bytes", "nothing")
def fibre_that_carried_too_little(rows: Rows) -> None:
    rows["links"][0]["bytes"] -= 1


@breaks("link_bytes", "nothing")
def link_that_is_no_fibre(rows: Rows) -> None:
    rows["links"].append(dict(rows["links"][0], link=99, bytes=0))


@breaks("link_rate", "nothing")
def fibre_that_was_faster_than_its_rate(rows: Rows) -> None:
    row = max(rows["links"], key=lambda link: link["bytes"])
    surplus = row["bytes"] + row["background_bytes"] - SCENARIO.optical.packet_bytes
    row["start_ps"] = row["end_ps"] - 80 * (surplus - 1)  # 80 ps per byte at 100 Gbit/s


@breaks("energy", "figures")
def thz_energy_that_is_no_sum(rows: Rows) -> None:
    rows["events"][P2P]["thz_energy_j"] += 1e-9


@breaks("energy", "figures")
def optical_energy_that_is_no_sum(rows: Rows) -> None:
    rows["events"][WIRED]["optical_energy_j"] += 1e-9


@breaks("energy", "figures")
def thz_without_its_front_ends(rows: Rows) -> None:
    rows["events"][P2P]["thz_wall_j"] = rows["events"][P2P]["thz_energy_j"] / 0.05


@breaks("energy", "figures")
def fibre_without_its_switches(rows: Rows) -> None:
    event = rows["events"][WIRED]
    event["optical_wall_j"] = event["optical_energy_j"] * 21 / 40


@breaks("energy", "figures")
def bus_without_its_electronics(rows: Rows) -> None:
    event = max(rows["events"], key=lambda e: e["further_bytes"])
    event["further_wall_j"] = event["further_energy_j"]


@breaks("static", "figures")
def static_energy_without_the_switches(rows: Rows) -> None:
    event = rows["events"][WIRED]
    event["static_j"] -= 60.0 * 2 * len(event["racks"]) / 6 * event["completion_ms"] / 1e3


@breaks("completion", "figures")
def completion_time_from_the_late_rack_on(rows: Rows) -> None:
    rows["events"][P2P]["completion_ms"] -= 500 * US / MS


@breaks("reward", "rewards")
def reward_with_other_weights(rows: Rows) -> None:
    rows["events"][WIRED]["reward"] *= 1.01


ITERATION_FIGURES = (
    ("completion_ms", "iteration_totals"),
    ("energy_j", "iteration_totals"),
    ("optical_energy_j", "iteration_totals"),
    ("thz_energy_j", "iteration_totals"),
    ("wall_energy_j", "iteration_totals"),
    ("optical_wall_j", "iteration_totals"),
    ("thz_wall_j", "iteration_totals"),
    ("further_wall_j", "iteration_totals"),
    ("static_energy_j", "iteration_totals"),
    ("total_energy_j", "iteration_totals"),
    ("reward", "iteration_totals"),
    ("makespan_ms", "iteration_totals"),
    ("thz_share", "iteration_totals"),
    ("fallback_chunks", "iteration_totals"),
    ("rerouted_chunks", "iteration_totals"),
    ("bubble", "bubble"),
    ("thz_utilisation", "utilisation"),
    ("optical_utilisation", "utilisation"),
    ("exposed_ms", "exposed"),
)


@pytest.mark.parametrize(
    ("check", "damage", "settle"), DAMAGES, ids=[damage.__name__ for _, damage, _ in DAMAGES]
)
def test_damage_is_named(check: tuple[str, ...], damage: Damage, settle: str) -> None:
    rows = hand_made.rows()
    damage(rows)
    hand_made.settle(rows, settle)
    found = verdict(rows)
    assert found.broken == list(check), [str(v) for v in found.violations]


@pytest.mark.parametrize(("column", "check"), ITERATION_FIGURES)
def test_a_wrong_figure_of_an_iteration_is_named(column: str, check: str) -> None:
    rows = hand_made.rows()
    row = rows["iterations"][0]
    row[column] += 1 if isinstance(row[column], int) else 1e-3 * (abs(row[column]) + 1)
    assert verdict(rows).broken == [check]


@pytest.mark.parametrize("part", ["fibre", "thz", "further", "rack"])
def test_a_wrong_part_of_static_energy_is_named(part: str) -> None:
    rows = hand_made.rows()
    rows["iterations"][1][f"{part}_static_j"] *= 1.01
    assert verdict(rows).broken == ["static", "iteration_totals"]


# -- the same run in another scenario: its limits and its faults ----------------------------------


def with_thz(**changes: object) -> Scenario:
    return SCENARIO.model_copy(update={"thz": SCENARIO.thz.model_copy(update=changes)})


def test_too_many_transmissions_for_the_rf_chains_are_named() -> None:
    # other chains have other static power
    assert verdict(hand_made.rows(), with_thz(rf_chains=2)).broken == ["static"]
    assert verdict(hand_made.rows(), with_thz(rf_chains=1)).broken == ["rf_chains", "static"]


def with_fault(start_ps: int, end_ps: int, **fault: object) -> Scenario:
    window = {"start_s": start_ps * 1e-12, "end_s": end_ps * 1e-12}
    values = SCENARIO.model_dump(mode="json", exclude_none=True)
    return Scenario.model_validate(values | {"faults": [fault | window]})


THZ_FAULTS: list[dict[str, object]] = [
    {"kind": "transceiver-down", "rack": 2},
    {"kind": "transceiver-down", "rack": 5},
    {"kind": "subband-jammed", "subband": 3},
    {"kind": "pair-blocked", "racks": [5, 2]},
]


@pytest.mark.parametrize("fault", THZ_FAULTS, ids=lambda fault: " ".join(map(str, fault.values())))
def test_a_round_that_begins_during_a_fault_is_named(fault: dict[str, object]) -> None:
    rows = hand_made.rows()
    start = only(rows["rounds"], number=SINGLE)["start_ps"]
    assert verdict(rows, with_fault(start, start + 1, **fault)).broken == ["thz_faults"]


@pytest.mark.parametrize("fault", THZ_FAULTS, ids=lambda fault: " ".join(map(str, fault.values())))
def test_a_round_that_began_before_the_fault_may_run_out(fault: dict[str, object]) -> None:
    rows = hand_made.rows()
    start = only(rows["rounds"], number=SINGLE)["start_ps"]
    assert verdict(rows, with_fault(start + 1, start + 2 * OVERHEAD, **fault)).ok
    assert verdict(rows, with_fault(start - 1, start, **fault)).ok


def test_data_that_appears_on_a_frozen_rack_is_named() -> None:
    rows = hand_made.rows()
    event = rows["events"][P2P]
    appears = event["release_ps"] + 500 * US
    frozen = {"kind": "compute-frozen", "rack": 1}
    assert verdict(rows, with_fault(appears, appears + 1, **frozen)).broken == ["frozen_racks"]
    assert verdict(rows, with_fault(appears - 1, appears, **frozen)).ok


@pytest.mark.parametrize("fibre", [{"rack": 4}, {"rings": [1, 0]}])
def test_traffic_on_a_dead_fibre_is_named(fibre: dict[str, object]) -> None:
    rows = hand_made.rows()
    end = rows["iterations"][-1]["end_ps"]
    assert verdict(rows, with_fault(0, end, kind="fibre", **fibre)).broken == ["link_rate"]
    spared = with_fault(0, end, kind="fibre", rate_share=0.5, **fibre)
    assert verdict(rows, spared).ok
