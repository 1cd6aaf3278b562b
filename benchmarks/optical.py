"""Print the optical kernel's budgets: python benchmarks/optical.py"""

from __future__ import annotations

from thzsync.optical.bench import measure

BUDGETS = {
    "packet_hops_per_s": (">=", 8e6),
    "ratio": (">=", 60.0),
    "cost_ratio_1024_to_32_racks": ("<=", 2.0),
}


def main() -> None:
    for name, value in measure().items():
        sign, budget = BUDGETS.get(name, ("", 0.0))
        note = f"   budget {sign} {budget:,.0f}" if sign else ""
        print(f"{name:32s} {value:16,.2f}{note}")


if __name__ == "__main__":
    main()
