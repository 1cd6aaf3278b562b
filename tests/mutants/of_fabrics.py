"""Mutants of what is offered, lowered and carried."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

ALONE = "tests/execution/test_alone.py"
LEDGER = ("tests/transfers/test_ledger.py",)
OVERLAY = "tests/wireless/test_overlay.py"
SELECTION = "tests/wireless/test_selection.py"
POWER = ("tests/wireless/test_power.py",)
OFFERS = ("tests/synthesis/test_offers.py",)
BOUNDS = "tests/synthesis/test_bounds.py"
PRECEDENCE = "thzsync.transfers.precedence"
LOWERING = "thzsync.transfers.lowering"
FORMING = "thzsync.wireless.forming"
BOOKKEEPING = "thzsync.wireless.bookkeeping"
STREAMING = "thzsync.wireless.streaming"
MATCHING = "thzsync.wireless.matching"
POWER_MODULE = "thzsync.wireless.power"
OFFER = "thzsync.synthesis.offer"
BOUNDS_MODULE = "thzsync.synthesis.bounds"

MUTANTS = (
    Mutant(
        PRECEDENCE,
        "serve",
        "task[successor, PENDING] == 0",
        "task[successor, PENDING] <= 1",
        LEDGER,
        "a chunk is ready when all but one of its predecessors are done",
    ),
    Mutant(
        PRECEDENCE,
        "move",
        "task[n, READY_AT] >= 0",
        "True",
        LEDGER,
        "a chunk that moves to the fibre leaves before it is ready",
    ),
    Mutant(
        PRECEDENCE,
        "move",
        "for j in range(k):\n    task[nodes[j], OWNER] = source",
        "",
        LEDGER,
        "a refused move to the fibre leaves some chunks there",
    ),
    Mutant(
        PRECEDENCE,
        "complete",
        "clock[WORK] = work",
        "",
        LEDGER,
        "chunks of a refused call arrive all the same",
    ),
    Mutant(
        LOWERING,
        "_timer_of_flow",
        "timer_of_flow[~graph.local] = -1",
        "",
        (f"{ALONE}::test_a_late_rack_passes_on_at_once_what_comes_from_others",),
        "a late rack holds up what it merely passes on",
    ),
    Mutant(
        LOWERING,
        "event_batch",
        "columns[5, nodes:join] = release_ps + delays_ps[late]",
        "columns[5, nodes:join] = delays_ps[late]",
        ("tests/simulation/test_engine.py::test_a_late_rack_counts_in_the_completion_time",),
        "lateness counts from the beginning of the run",
    ),
    Mutant(
        "thzsync.transfers.graph",
        "TransferGraph.carrier_of",
        "chunk < ends[flow]",
        "chunk >= (self.chunks - ends)[flow]",
        (f"{OVERLAY}::test_only_the_first_chunks_belong_to_thz", *OFFERS),
        "the last n chunks of a flow go over THz",
    ),
    Mutant(
        FORMING,
        "power_caps_w",
        "radio.max_power_w - air.power_w[queue.racks[v]]",
        "radio.max_power_w",
        (f"{OVERLAY}::test_a_second_event_takes_what_power_the_first_leaves",),
        "an event ignores the power that others use",
    ),
    Mutant(
        FORMING,
        "power_caps_w",
        "budget_w - queue.drawn_w[v]",
        "budget_w",
        ("tests/wireless/test_two_disciplines.py",),
        "each discipline of an event gets the whole budget",
    ),
    Mutant(
        BOOKKEEPING,
        "take_resources",
        "air.busy[src, subband] = air.busy[dst, subband] = True",
        "air.busy[src, subband] = True",
        (f"{OVERLAY}::test_overlapping_events_never_break_a_rule_of_the_air",),
        "a receiver may send on the subband on which it receives",
    ),
    Mutant(
        BOOKKEEPING,
        "startable",
        "queue.ready[f] == queue.owned[f]",
        "True",
        (f"{OVERLAY}::test_a_bundle_waits_for_all_its_chunks_and_travels_as_one",),
        "a bundle does not wait for its last chunk",
    ),
    Mutant(
        STREAMING,
        "_shares_w",
        "left[f] > 0 or queue.flying[f] > 0",
        "left[f] > 0",
        ("tests/wireless/test_streaming.py",),
        "a flow in the air leaves its share of the budget to others",
    ),
    Mutant(
        STREAMING,
        "_better_ps",
        "more > 0.0 or (more == 0.0 and c < subband)",
        "more > 1e300",
        ("tests/wireless/test_streaming.py",),
        "a train stays on a weak subband while a better one becomes free",
    ),
    Mutant(
        STREAMING,
        "_better_ps",
        "better_ps = min(better_ps, free_ps)",
        "",
        ("tests/wireless/test_streaming.py",),
        "a lookahead train does not see when a better subband becomes free",
    ),
    Mutant(
        STREAMING,
        "_better_ps",
        "better_ps = min(better_ps, air.free_ps[src, c])",
        "",
        ("tests/wireless/test_streaming.py",),
        "a lookahead train does not see when its rack has more power",
    ),
    Mutant(
        BOOKKEEPING,
        "claim",
        "limits_ps[dst[f]] = min(limits_ps[dst[f]], begins_ps)",
        "",
        ("tests/wireless/test_streaming.py",),
        "a lookahead train overlooks older flows towards its racks",
    ),
    Mutant(
        "thzsync.wireless.disciplines",
        "Streaming.start",
        "group.lookahead and self.in_turn",
        "group.lookahead",
        ("tests/wireless/test_trains.py",),
        "one striped flight takes all chunks of a flow",
    ),
    Mutant(
        "thzsync.wireless.overlay",
        "Overlay.dispatch",
        "min(group.gains_until_ps, self._next_fault_ps(now_ps))",
        "group.gains_until_ps",
        ("tests/wireless/test_trains.py",),
        "trains run on when a fault begins",
    ),
    Mutant(
        STREAMING,
        "_alone",
        "queue.shared or queue.awaited[flow]",
        "queue.shared",
        ("tests/wireless/test_streaming.py",),
        "a train keeps back what goes on by fibre",
    ),
    Mutant(
        MATCHING,
        "match",
        "_augment(links, slots, picked)",
        "",
        (SELECTION,),
        "matchings are not augmented",
    ),
    Mutant(
        MATCHING,
        "fits",
        "slots.chains[v] > 0",
        "True",
        (SELECTION,),
        "a receiver needs no RF chain",
    ),
    Mutant(
        MATCHING,
        "_most_constrained",
        "strongest < weakest",
        "strongest > weakest",
        (SELECTION,),
        "the strongest link chooses first",
    ),
    Mutant(
        POWER_MODULE,
        "trim",
        "need_w > most_w",
        "need_w < most_w or most_w < 0",
        POWER,
        "the cheapest transmissions are left out instead of the neediest",
    ),
    Mutant(
        POWER_MODULE,
        "optimal_duration_ps",
        "fastest_rate(who, sender, keep, bits, snr, cap_w[who], law)",
        "fastest_rate(who, sender, keep, bits, snr, cap_w[who], law) / 2",
        POWER,
        "rounds last twice as long as they must",
    ),
    Mutant(
        POWER_MODULE,
        "fastest_step_rate",
        "fits < x < fails",
        "fits < x < fails and a == 0",
        (f"{POWER[0]}::test_on_steps_no_assignment_of_steps_is_shorter_or_needs_less_power",),
        "of a sender's transmissions only the first one's steps are tried",
    ),
    Mutant(
        "thzsync.channel.rate",
        "law_of",
        "effective / np.maximum(1 - effective * distortion, 0.0)",
        "effective * 1.0",
        ("tests/scenario/test_rates.py::test_distortion_raises_what_a_step_needs",),
        "steps forget the distortion",
    ),
    Mutant(
        "thzsync.scenario.rates",
        "ModeTable._with_errors",
        "mode.efficiency * (1 - rate)",
        "mode.efficiency",
        ("tests/scenario/test_rates.py::test_what_is_sent_again_becomes_rarer_by_a_decade",),
        "what is sent again costs no time",
    ),
    Mutant(
        "thzsync.wireless.group",
        "FlowGroup.adopt",
        "silent = silent[queue.budget_w[silent] == 0]",
        "",
        ("tests/simulation/test_faults.py::test_rerouted_chunks_do_not_lift_a_decided_budget",),
        "rerouted chunks lift every budget",
    ),
    Mutant(
        BOOKKEEPING,
        "write_down",
        "view.guarded or (view.steers and (facing[i, c] != j or facing[j, c] != i))",
        "True",
        (
            "tests/properties/test_declared_disciplines.py"
            "::test_each_keeps_its_own_rules_while_both_are_in_the_air",
        ),
        "streams pay a guard time that they need not pay",
    ),
    Mutant(
        OFFER,
        "Offer.per_flow",
        "np.searchsorted(senders, graph.src)",
        "np.searchsorted(senders, graph.src) * 0",
        OFFERS,
        "all flows share one power group",
    ),
    Mutant(
        OFFER,
        "Offer.sending",
        "np.asarray(thz_chunks) > 0",
        "np.asarray(thz_chunks) >= 0",
        OFFERS,
        "racks without THz chunks are given power",
    ),
    Mutant(
        "thzsync.synthesis.trees",
        "Trees.plan",
        "setting.delay_s if self.delay_aware else np.zeros(n)",
        "np.zeros(n)",
        ("tests/synthesis/test_structures.py",),
        "trees are grown without regard to delays",
    ),
    Mutant(
        BOUNDS_MODULE,
        "_crossings",
        "len(np.unique(part)) + len(np.unique(part[late])) - 2",
        "len(np.unique(part)) + len(np.unique(part[late])) - 1",
        (f"{BOUNDS}::test_an_allreduce_on_one_subband_sends_two_tensors_less_two_shares",),
        "a bound asks for one transfer too many",
    ),
    Mutant(
        BOUNDS_MODULE,
        "a2a_bound_s",
        "np.unique(release_s[sends])",
        "np.unique(release_s[sends])[:1]",
        (
            f"{BOUNDS}::test_what_late_racks_send_to_one_rack_follows_each_other_after_their_release",
        ),
        "a bound forgets what is released later",
    ),
    Mutant(
        "thzsync.channel.rate",
        "required_power_w",
        "_LN2 * size_bits",
        "size_bits",
        (f"{ALONE}::test_two_racks_on_one_subband_take_turns",),
        "rates are in nats where they should be in bits",
    ),
    Mutant(
        "thzsync.network.network",
        "Network.energy_j",
        "self.hops(src, dst) * size",
        "2 * size",
        ("tests/optical/test_fabric.py", "tests/optical/test_closed_forms.py"),
        "the fibre between rings costs no energy",
    ),
    Mutant(
        "thzsync.workload.one_f_one_b",
        "_Generator._skewed",
        "exchange.combine == (phase is Phase.BACKWARD)",
        "not exchange.combine",
        ("tests/workload/test_one_f_one_b.py",),
        "gradients do not retrace the exchanges",
    ),
    Mutant(
        "thzsync.collectives.catalogue",
        "_reduce_scatter",
        "(size, racks, [int(r)])",
        "(size, [int(r)], racks)",
        (f"{ALONE}::test_schedules_move_real_tensors_to_the_right_result",),
        "a reduce-scatter gathers",
    ),
)
