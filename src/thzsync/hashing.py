"""Counter-based random bits: the finaliser of SplitMix64 (Steele, Lea and Flood, 2014).

Draw number n of a stream is ``mix64(start + n * GOLDEN)``: a function of where it belongs, so
neither the order of asking nor anybody else's draws can change it. The same lines serve arrays and
kernels.
"""

from __future__ import annotations

from typing import Any

import numpy as np

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_A = np.uint64(0xBF58476D1CE4E5B9)
_MIX_B = np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31 = np.uint64(30), np.uint64(27), np.uint64(31)


def mix64(z: Any) -> Any:
    """Every input bit reaches every output bit; for a ``uint64`` or an array of them."""
    z = (z ^ (z >> _S30)) * _MIX_A
    z = (z ^ (z >> _S27)) * _MIX_B
    return z ^ (z >> _S31)
