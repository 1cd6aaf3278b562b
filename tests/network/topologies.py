"""Where tests find topology files of other tools, and small ones that they write themselves."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

SHARED = Path(
    os.environ.get("THZSYNC_TOPOLOGIES", Path(__file__).parents[3] / "shared" / "topologies")
)


def shared(name: str) -> Path:
    """A file of the collection of real topologies, which is not part of the repository."""
    if not (SHARED / name).is_file():
        pytest.skip(f"no {name} in {SHARED}; name the collection with THZSYNC_TOPOLOGIES")
    return SHARED / name


ASTRA = """\
topology: [ Ring, FullyConnected, Switch ]
npus_count: [ 3, 2, 2 ]
bandwidth: [ 4.0, 2.0, 1.0 ]  # GB/s
latency: [ 10, 20.5, 3e1 ]
"""
HTSIM = """\
# two pods
Nodes 16
Tiers 3
Podsize 8

Tier 0
Downlink_speed_Gbps 100
Radix_Down 4
Radix_Up 2
Oversubscribed 2
Downlink_Latency_ns 100
Tier 1
Downlink_speed_Gbps 100
Radix_Down 2
Radix_Up 2
Downlink_Latency_ns 200
Tier 2
Downlink_speed_Gbps 100
Radix_Down 4
Bundle 2
Downlink_Latency_ns 300
Switch_Latency_ns 0
"""
INFRAGRAPH = """\
name: rails
devices:
- name: server
  components:
  - {name: xpu, choice: xpu, count: 8}
  - {name: cx7, choice: device, count: 2}
  links: []
  edges: []
- name: cx7
  components:
  - {name: port, choice: port, count: 2}
- name: box
  components:
  - {name: port, choice: port, count: 16}
instances:
- {name: leaf, device: box, count: 2}
- {name: host, device: server, count: 4}
- {name: spine, device: box, count: 9}
links:
- name: down
  physical:
    bandwidth: {choice: gigabytes_per_second, gigabytes_per_second: 50}
    latency: {choice: us, us: 0.5}
- name: up
  physical:
    bandwidth: {choice: gigabits_per_second, gigabits_per_second: 800}
edges:
- ep1: {instance: "host", component: "cx7[0].port[0]"}
  ep2: {instance: "leaf[0]", component: "port[0:8:2]"}
  scheme: one2one
  link: down
- ep1: {instance: "host[0:4]", component: "cx7[1].port[:1]"}
  ep2: {instance: "leaf[1]", component: "port"}
  scheme: one2one
  link: down
- ep1: {instance: "leaf", component: "port[15]"}
  ep2: {instance: "spine[0:2]", component: "port[0]"}
  scheme: many2many
  link: up
"""
SAMPLES = {"astra.yml": ASTRA, "tree.topo": HTSIM, "rails.yaml": INFRAGRAPH}
