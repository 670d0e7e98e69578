"""compare_goldens.py COMMITTED FRESH: equal tensors, up to 1e-5 of their norm."""

import sys
from pathlib import Path

from safetensors.torch import load_file


def main() -> int:
    committed, fresh = (Path(p) for p in sys.argv[1:3])
    names = sorted(p.name for p in committed.glob("*.safetensors"))
    if not names or names != sorted(p.name for p in fresh.glob("*.safetensors")):
        print(f"compare_goldens: the same files are required in {committed} and {fresh}", file=sys.stderr)
        return 1
    failed = 0
    for name in names:
        a, b = load_file(committed / name), load_file(fresh / name)
        worst = 0.0 if a.keys() == b.keys() else float("inf")
        for key in a.keys() & b.keys():
            x, y = a[key].double(), b[key].double()
            worst = max(worst, float((x - y).abs().max() / x.norm().clamp_min(1e-12)))
        failed += worst > 1e-5
        print(f"{name}: largest difference {worst:.1e} of the norm{'' if worst <= 1e-5 else ', TOO LARGE'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
