"""Mutants of topology files of other tools, of cuts, and of orders that follow the leaves."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

IMPORTERS = "tests/network/test_importers.py"
BAD = "tests/network/test_bad_topologies.py"
PACKAGE = "thzsync.network.importers"
BOUNDS = "tests/synthesis/test_fibre_bounds.py"

MUTANTS = (
    Mutant(
        f"{PACKAGE}.astra",
        "",
        "8 * 2**30",
        "8 * 10**9",
        (f"{IMPORTERS}::test_latencies_and_names_of_astra",),
        "gigabytes of ASTRA-sim have 10^9 bytes",
    ),
    Mutant(
        f"{PACKAGE}.astra",
        "wires_of",
        "npu // stride % one.npus == 0",
        "npu % one.npus == 0",
        (f"{IMPORTERS}::test_latencies_and_names_of_astra",),
        "groups of all dimensions have neighbours",
    ),
    Mutant(
        f"{PACKAGE}.astra",
        "Dimension.join",
        "self.npus - 2",
        "1",
        (f"{IMPORTERS}::test_paths_by_dimension_never_wait_in_a_circle",),
        "rings are routed across their seam",
    ),
    Mutant(
        f"{PACKAGE}.htsim",
        "wires_of",
        "top[k % middles :: middles]",
        "top[k % middles * tops :][:tops]",
        (f"{IMPORTERS}::test_cores_of_htsim_are_dealt_out",),
        "an aggregation switch has neighbouring cores",
    ),
    Mutant(
        f"{PACKAGE}.infragraph",
        "_Edges.wires",
        "a[:2] != b[:2]",
        "a[0] != b[0]",
        (f"{IMPORTERS}::test_an_edge_that_is_named_twice_is_one",),
        "links among instances of one name are lost",
    ),
    Mutant(
        f"{PACKAGE}.endpoints",
        "Endpoints.choices",
        "devices.append(part)",
        "",
        (f"{IMPORTERS}::test_accelerators_on_boards_make_a_rack",),
        "what a device is composed of does not count",
    ),
    Mutant(
        f"{PACKAGE}.document",
        "_made",
        'name == "AliasEvent" or getattr(event, "tag", None)',
        'getattr(event, "tag", None)',
        (f"{BAD}::test_aliases_cannot_blow_up",),
        "aliases pass unnoticed",
    ),
    Mutant(
        "thzsync.network.cuts",
        "_switch_groups",
        "alone = (switches == nearest[:, None]).sum(axis=1) == 1",
        "alone = nearest >= 0",
        (f"{BOUNDS}::test_tiers_are_racks_leaves_and_pods",),
        "a spine belongs to one of its leaves",
    ),
    Mutant(
        "thzsync.synthesis.fibre_bounds",
        "_crossing_bytes",
        "others[block] > inside",
        "others[block] > 0",
        (f"{BOUNDS}::test_an_oversubscribed_leaf_sets_the_bound",),
        "what stays in a group crosses its cut",
    ),
    Mutant(
        "thzsync.synthesis.rings",
        "ring_flows",
        "block = np.argsort(np.argsort(racks)).tolist()",
        "block = list(range(n))",
        (f"{BOUNDS}::test_a_ring_visits_leaf_after_leaf_whatever_the_numbers",),
        "segments of a part belong to places in the ring",
    ),
    Mutant(
        "thzsync.network.network",
        "Network.place_of_rack",
        "np.where(left, distance[at], far)",
        "np.where(left, distance[0], far)",
        (
            "tests/network/test_forwarding.py::test_neighbouring_places_share_a_leaf_and_leaves_a_pod",
        ),
        "the walk goes on from where it began",
    ),
    Mutant(
        "thzsync.synthesis.exchanges",
        "Rotation.plan",
        "(leaf[dst] - leaf[src] - port[src]) % leaves",
        "(leaf[dst] - leaf[src]) % leaves",
        (f"{BOUNDS}::test_a_rotation_is_a_permutation_at_a_time_and_uses_all_leaves",),
        "all racks of a leaf send to the same leaf",
    ),
)
