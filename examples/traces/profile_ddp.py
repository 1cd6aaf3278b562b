"""Profile a few steps of distributed training, so that `thzsync trace import` can read them.

Covers: torch.profiler with shapes, one file per rank, on CPUs with Gloo over the loopback device.

    python examples/traces/profile_ddp.py FOLDER
"""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

import torch
import torch.distributed as dist
from torch.multiprocessing.spawn import spawn
from torch.profiler import ProfilerActivity, profile

RANKS, STEPS = 2, 3


def train(rank: int, folder: str, port: int) -> None:
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), GLOO_SOCKET_IFNAME="lo")
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=RANKS)
    layers = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.Linear(512, 256))
    model = torch.nn.parallel.DistributedDataParallel(layers)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as profiler:
        for _ in range(STEPS):
            model(torch.randn(32, 256)).square().mean().backward()
            optimizer.step()
            optimizer.zero_grad()
    profiler.export_chrome_trace(f"{folder}/profile{rank}.json")
    dist.destroy_process_group()


def main(folder: str) -> None:
    Path(folder).mkdir(parents=True, exist_ok=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    spawn(train, (folder, port), nprocs=RANKS)


if __name__ == "__main__":
    main(sys.argv[1])
