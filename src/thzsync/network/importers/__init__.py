"""Networks from topology files of other tools: InfraGraph, ASTRA-sim, csg-htsim."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from thzsync.network.generators import Wires
from thzsync.network.importers import astra, htsim, infragraph
from thzsync.network.importers.document import read_json, read_yaml
from thzsync.network.importers.source import Source

__all__ = ["read_wires"]


def read_wires(path: str | Path) -> Wires:
    """The links that a topology file describes; a wrong file raises ThzSyncError.

    JSON is read where the file's name ends in ``.json``, csg-htsim's fat trees where it ends in
    ``.topo`` or the text begins as they do; all else is YAML. Keys tell InfraGraph from ASTRA-sim.
    """
    source = Source(Path(path))
    wires = _wires(source, source.text())
    _check_reach(source, wires)
    return wires


def _wires(source: Source, text: str) -> Wires:
    suffix = source.path.suffix.lower()
    if suffix == ".topo" or (suffix != ".json" and htsim.recognises(text)):
        return htsim.wires_of(source, text)
    document = read_json(source, text) if suffix == ".json" else read_yaml(source, text)
    if isinstance(document, dict) and infragraph.recognises(document):
        return infragraph.wires_of(source, document)
    if isinstance(document, dict) and astra.recognises(document):
        return astra.wires_of(source, document)
    raise source.wrong(
        "",
        "is no topology of a known format",
        "give an InfraGraph file with instances and edges, an ASTRA-sim network file with "
        "topology and npus_count, or a csg-htsim .topo file",
    )


def _check_reach(source: Source, wires: Wires) -> None:
    """Refuse networks in which a rack cannot reach another."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    ends = np.array([(a, b) for a, b, *_ in wires.ends], dtype=np.int32).reshape(-1, 2)
    nodes = wires.racks + len(wires.switch_names)
    joined = coo_array((np.ones(len(ends), np.int8), (ends[:, 0], ends[:, 1])), (nodes, nodes))
    _, part = connected_components(joined, directed=False)
    lost = np.flatnonzero(part[: wires.racks] != part[0])
    if len(lost):
        raise source.wrong(f"rack {lost[0]}", "has no path to rack 0", "add links between them")
