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

MUTANTS = (
    Mutant(
        "transfers/precedence.py",
        "            if task[successor, PENDING] == 0:\n",
        "            if task[successor, PENDING] <= 1:\n",
        LEDGER,
        "a chunk is ready when all but one of its predecessors are done",
    ),
    Mutant(
        "transfers/precedence.py",
        "        if task[n, READY_AT] >= 0:\n            push_fresh(clock, slots, n)\n",
        "        push_fresh(clock, slots, n)\n",
        LEDGER,
        "a chunk that moves to the fibre leaves before it is ready",
    ),
    Mutant(
        "transfers/precedence.py",
        "            for j in range(k):\n                task[nodes[j], OWNER] = AIR\n",
        "",
        LEDGER,
        "a refused move to the fibre leaves some chunks there",
    ),
    Mutant(
        "transfers/precedence.py",
        "            clock[WORK] = work\n",
        "",
        LEDGER,
        "chunks of a refused call arrive all the same",
    ),
    Mutant(
        "transfers/batch.py",
        "    timer_of_flow[~plan.local] = -1\n",
        "",
        (f"{ALONE}::test_a_late_rack_passes_on_at_once_what_comes_from_others",),
        "a late rack holds up what it merely passes on",
    ),
    Mutant(
        "transfers/batch.py",
        "node_release[chunks:join] = release_ps + delays_ps[late]",
        "node_release[chunks:join] = delays_ps[late]",
        ("tests/simulation/test_engine.py::test_a_late_rack_counts_in_the_completion_time",),
        "lateness counts from the beginning of the run",
    ),
    Mutant(
        "transfers/graph.py",
        "self.chunk_number < self.thz_chunks[self.chunk_flow]",
        "self.chunk_number >= (self.chunks - self.thz_chunks)[self.chunk_flow]",
        (f"{OVERLAY}::test_only_the_first_chunks_belong_to_thz", *OFFERS),
        "the last n chunks of a flow go over THz",
    ),
    Mutant(
        "wireless/forming.py",
        "        left_w = radio.max_power_w - air.power_w[frontier.racks[v]]\n",
        "        left_w = radio.max_power_w\n",
        (f"{OVERLAY}::test_a_second_event_takes_what_power_the_first_leaves",),
        "an event ignores the power that others use",
    ),
    Mutant(
        "wireless/forming.py",
        "            budget_w = max(budget_w - frontier.drawn_w[v], 0.0)\n",
        "            budget_w = max(budget_w, 0.0)\n",
        ("tests/wireless/test_two_disciplines.py",),
        "each discipline of an event gets the whole budget",
    ),
    Mutant(
        "wireless/bookkeeping.py",
        "    air.busy[src, subband] = air.busy[dst, subband] = True\n",
        "    air.busy[src, subband] = True\n",
        (f"{OVERLAY}::test_overlapping_events_never_break_a_rule_of_the_air",),
        "a receiver may send on the subband on which it receives",
    ),
    Mutant(
        "wireless/bookkeeping.py",
        "        elif frontier.ready[f] == frontier.owned[f]:\n",
        "        else:\n",
        (f"{OVERLAY}::test_a_bundle_waits_for_all_its_chunks_and_travels_as_one",),
        "a bundle does not wait for its last chunk",
    ),
    Mutant(
        "wireless/streaming.py",
        "        if left[f] > 0 or frontier.flying[f] > 0:\n",
        "        if left[f] > 0:\n",
        ("tests/wireless/test_streaming.py",),
        "a flow in the air leaves its share of the budget to others",
    ),
    Mutant(
        "wireless/streaming.py",
        "        if more > 0.0 or (more == 0.0 and c < subband):\n",
        "        if more > 1e300:\n",
        ("tests/wireless/test_streaming.py",),
        "a train stays on a weak subband while a better one becomes free",
    ),
    Mutant(
        "wireless/streaming.py",
        "            better_ps = min(better_ps, free_ps)\n",
        "",
        ("tests/wireless/test_streaming.py",),
        "a farsighted train does not see when a better subband becomes free",
    ),
    Mutant(
        "wireless/streaming.py",
        "                better_ps = min(better_ps, air.free_ps[src, c])\n",
        "                pass\n",
        ("tests/wireless/test_streaming.py",),
        "a farsighted train does not see when its rack has more power",
    ),
    Mutant(
        "wireless/bookkeeping.py",
        "            limits_ps[dst[f]] = min(limits_ps[dst[f]], begins_ps)\n",
        "",
        ("tests/wireless/test_streaming.py",),
        "a farsighted train overlooks older flows towards its racks",
    ),
    Mutant(
        "wireless/streams.py",
        "        far = party.farsighted and self.in_turn\n",
        "        far = party.farsighted\n",
        ("tests/wireless/test_trains.py",),
        "one striped flight takes all chunks of a flow",
    ),
    Mutant(
        "wireless/overlay.py",
        "min(party.gains_until_ps, self._next_fault_ps(now_ps))",
        "party.gains_until_ps",
        ("tests/wireless/test_trains.py",),
        "trains run on when a fault begins",
    ),
    Mutant(
        "wireless/streaming.py",
        " or frontier.awaited[flow]:",
        ":",
        ("tests/wireless/test_streaming.py",),
        "a train keeps back what goes on by fibre",
    ),
    Mutant(
        "wireless/matching.py",
        "    _augment(web, slots, picked)\n",
        "",
        (SELECTION,),
        "matchings are not augmented",
    ),
    Mutant(
        "wireless/matching.py",
        "        and slots.chains[v] > 0\n",
        "",
        (SELECTION,),
        "a receiver needs no RF chain",
    ),
    Mutant(
        "wireless/assignment.py",
        "usable == fewest and strongest < weakest",
        "usable == fewest and strongest > weakest",
        (SELECTION,),
        "the strongest link chooses first",
    ),
    Mutant(
        "wireless/power.py",
        "                    if need_w > most_w:\n",
        "                    if need_w < most_w or most_w < 0:\n",
        POWER,
        "the cheapest transmissions are left out instead of the neediest",
    ),
    Mutant(
        "wireless/power.py",
        "slowest = min(slowest, fastest_rate(who, sender, keep, bits, snr, cap_w[who], hz))",
        "slowest = fastest_rate(who, sender, keep, bits, snr, cap_w[who], hz) / 2",
        POWER,
        "rounds last twice as long as they must",
    ),
    Mutant(
        "wireless/party.py",
        "        silent = silent[frontier.budget_w[silent] == 0]\n",
        "",
        ("tests/simulation/test_faults.py::test_rerouted_chunks_do_not_lift_a_decided_budget",),
        "rerouted chunks lift every budget",
    ),
    Mutant(
        "wireless/bookkeeping.py",
        "owed = seat.guarded or (seat.steers and (facing[i, c] != j or facing[j, c] != i))",
        "owed = True",
        ("tests/properties/test_declared_disciplines.py",),
        "streams pay a guard time that they do not owe",
    ),
    Mutant(
        "synthesis/offer.py",
        "            group=np.searchsorted(senders, graph.src),\n",
        "            group=np.searchsorted(senders, graph.src) * 0,\n",
        OFFERS,
        "all flows share one power group",
    ),
    Mutant(
        "synthesis/offer.py",
        "active[self.group[np.asarray(thz_chunks) > 0]] = True",
        "active[self.group[np.asarray(thz_chunks) >= 0]] = True",
        OFFERS,
        "racks without THz chunks are given power",
    ),
    Mutant(
        "synthesis/trees.py",
        "delay_s = setting.delay_s if self.delay_aware else np.zeros(n)",
        "delay_s = np.zeros(n)",
        ("tests/synthesis/test_structures.py",),
        "trees are grown without regard to delays",
    ),
    Mutant(
        "synthesis/bounds.py",
        "len(np.unique(part)) + len(np.unique(part[late])) - 2",
        "len(np.unique(part)) + len(np.unique(part[late])) - 1",
        (f"{BOUNDS}::test_an_allreduce_on_one_subband_sends_two_tensors_less_two_shares",),
        "a bound asks for one transfer too many",
    ),
    Mutant(
        "synthesis/bounds.py",
        "    for release in np.unique(release_s[sends]):\n",
        "    for release in np.unique(release_s[sends])[:1]:\n",
        (
            f"{BOUNDS}::test_what_late_racks_send_to_one_rack_follows_each_other_after_their_release",
        ),
        "a bound forgets what is released later",
    ),
    Mutant(
        "channel/rate.py",
        "    exponent = _LN2 * size_bits / (subband_hz * duration_s)\n",
        "    exponent = size_bits / (subband_hz * duration_s)\n",
        (f"{ALONE}::test_two_racks_on_one_subband_take_turns",),
        "rates are in nats where they should be in bits",
    ),
    Mutant(
        "topology.py",
        "return np.where(same, 2, 3).astype(np.int64)",
        "return np.where(same, 2, 2).astype(np.int64)",
        ("tests/optical/test_fabric.py", "tests/optical/test_closed_forms.py"),
        "the fibre between rings costs no energy",
    ),
    Mutant(
        "workload/one_f_one_b.py",
        "outbound = exchange.combine == (phase is Phase.BACKWARD)",
        "outbound = not exchange.combine",
        ("tests/workload/test_one_f_one_b.py",),
        "gradients do not retrace the exchanges",
    ),
    Mutant(
        "collectives/reductions.py",
        "return Blocks.of((size, racks, [int(r)]) for",
        "return Blocks.of((size, [int(r)], racks) for",
        (f"{ALONE}::test_schedules_move_real_tensors_to_the_right_result",),
        "a reduce-scatter gathers",
    ),
)
