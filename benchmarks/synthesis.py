"""Cost of wireless rounds against their budget: ``python benchmarks/synthesis.py``."""

from __future__ import annotations

import json

from thzsync.experiments.bench_synthesis import measure

if __name__ == "__main__":
    print(json.dumps(measure(), indent=2))
