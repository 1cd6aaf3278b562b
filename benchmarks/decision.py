"""Cost of a decision against its budget: ``python benchmarks/decision.py``."""

from __future__ import annotations

import json

from thzsync.experiments.bench_decision import measure

if __name__ == "__main__":
    print(json.dumps(measure(), indent=2))
