"""Makes a tiny bundle of each family with random weights, for the C++ tests and for
`probe zeroshot --encoder clip|siglip|clip-h|eva --encoder-dir OUTDIR`.

    python make_tiny_bundles.py OUTDIR [--only NAME ...]

`eva` needs open_clip (README.md); the others need only requirements.txt. Fixed seeds:
equal library versions give equal bundles.
"""

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import tiny_models
from probe_export.bundle import write_bundle
from probe_export.errors import ExportError
from probe_export.families import make_plan

LICENCE = "CC0-1.0 (random weights); tokenizer: see LICENSE files"


def make_eva(folder: Path) -> Path:
    import tiny_open_clip

    return tiny_open_clip.eva01(folder)


BUILDERS = {
    "clip": tiny_models.clip,
    "siglip": tiny_models.siglip,
    "clip-h": lambda folder: tiny_models.clip(folder, act="gelu", width=40, seed=2),
    "eva": make_eva,
    "llava-next": tiny_models.llava,
    "internvit": tiny_models.internvit,
    "dinov2": tiny_models.dinov2,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("outdir", type=Path)
    parser.add_argument("--only", nargs="+", choices=sorted(BUILDERS), default=list(BUILDERS))
    parser.add_argument("--merges", type=Path, help="CLIP merges (default: the copy in this repository)")
    parser.add_argument("--pieces", type=Path, help="folder with spiece.model and LICENSE (default: likewise)")
    options = parser.parse_args()
    if options.merges:
        tiny_models.MERGES = (options.merges,)
    if options.pieces:
        tiny_models.PIECES = options.pieces
    options.outdir.mkdir(parents=True, exist_ok=True)
    failed = 0
    for name in options.only:
        try:
            with tempfile.TemporaryDirectory() as folder:
                source = BUILDERS[name](Path(folder))
                worst = write_bundle(make_plan(str(source), None), options.outdir / name, name=name, dtype="float16",
                                     licence=LICENCE, source=f"random weights, make_tiny_bundles.py {name}")
        except (ExportError, ImportError) as error:
            print(f"make_tiny_bundles: {name}: {error}", file=sys.stderr)
            failed += 1
            continue
        size = sum(p.stat().st_size for p in (options.outdir / name).iterdir())
        print(f"{name}: {size / 1e6:.2f} MB, cosine to the reference {worst:.7f}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
