"""Flows, chunks and precedence, with the carrier and the discipline of every flow."""

from __future__ import annotations

from thzsync.transfers.flows import Flow, direct_graph, graph_of
from thzsync.transfers.graph import TransferGraph
from thzsync.transfers.schedule import Schedule

__all__ = ["Flow", "Schedule", "TransferGraph", "direct_graph", "graph_of"]
