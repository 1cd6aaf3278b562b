"""Mutants of what reads topology files of other tools."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

IMPORTERS = "tests/network/test_importers.py"
BAD = "tests/network/test_bad_topologies.py"
PACKAGE = "thzsync.network.importers"

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
)
