"""Writes the table of issue 4 from the results of scripts/parity.sh.

    python write_table.py RESULTS_FOLDER > docs/parity.md

RESULTS_FOLDER: pixels.json (compare_pixels.py), ids.json (compare_ids.py), and tiny.jsonl,
full.jsonl (encoders/export). What was not run says so; no value comes from elsewhere.
"""

import json
import sys
from pathlib import Path

FULL = {"clip": "CLIP L/14-336", "siglip": "SigLIP SO400M-14-384", "clip-h": "CLIP H/14", "eva": "EVA01-CLIP-g-14"}
HEAD = """# How close `probe` is to the reference libraries

Made by `scripts/parity.sh`; do not edit. Every row is the built program against the library
itself, in one run: image files and texts in, `probe embed --tokens` on one side, the
library's own processor, tokenizer and model on the other. **All weights are random**, so
the table says that the same arithmetic is done, and nothing about accuracy.

- pixels: image files of every kind ({kinds}), decoded, resized and cropped; levels of 0 to
  255 that are within 1 of the reference's, and the largest difference. The reference is
  given what Pillow's `convert("RGB")` gives: `probe` drops alpha, as openai/CLIP and
  open_clip do, where transformers 5 composites it over white.
- ids: texts with the same token ids, of all that were tried. Set aside are texts that spell
  CLIP's marks out (`<|endoftext|>`), which open_clip alone spells otherwise.
- cosine, error: the worst row among image embeddings, every single token of every exported
  layer, and text embeddings; the error is the largest one of a row over the row's norm.
  Bars: float32 0.99999 and 1e-4, bfloat16 0.999.
"""


def read_lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def read(path: Path):
    return json.loads(path.read_text()) if path.exists() else None


def levels(share: float) -> str:
    return "100 %" if share == 1 else f"{100 * share:.4f} %"


def pixels_cell(row: dict) -> str:
    pixels = row.get("pixels")
    if not pixels:
        return "not run"
    return f"{pixels['pictures']}: {levels(pixels['within_1'])}, {pixels['largest']}"


def ids_cell(row: dict, name: str, ids: list[dict] | None) -> str:
    found = row.get("ids")
    if found:
        aside = f", {found['set_aside']} set aside" if found["set_aside"] else ""
        return f"{found['equal']:,} of {found['texts']:,}{aside} ({found['library']})"
    if not row.get("texts"):
        return "no text tower"
    if name.startswith("siglip"):
        return "real vocabulary not run; see below" if row.get("size") == "full" else "see below"
    clip = next((x for x in ids or [] if x["title"].startswith("CLIP BPE")), None)
    return f"{clip['equal']:,} of {clip['texts']:,} (openai-clip)" if clip else "not run"


def cosine(values: dict | None) -> str:
    return f"{min(v['cosine'] for v in values.values()):.7f}" if values else "not run"


def error(values: dict | None) -> str:
    return f"{max(v['error'] for v in values.values()):.1e}" if values else ""


def encoder_rows(rows: list[dict], names: dict, ids) -> list[str]:
    latest = {row["name"]: row for row in rows}
    lines = ["| encoder | reference | photos | pixels: within 1, largest | ids | float32 cosine | error | bfloat16 cosine |",
             "|---|---|---|---|---|---|---|---|"]
    for name, title in names.items():
        row = latest.get(name)
        if row is None:
            lines.append(f"| {title} | not run | | | | | | |")
            continue
        lines.append(f"| {title} | {row['reference']} | {row['photos']} | {pixels_cell(row)} | {ids_cell(row, name, ids)} "
                     f"| {cosine(row.get('float32'))} | {error(row.get('float32'))} | {cosine(row.get('bfloat16'))} |")
    return lines


def main() -> int:
    folder = Path(sys.argv[1])
    pixels, ids = read(folder / "pixels.json"), read(folder / "ids.json")
    tiny, full = read_lines(folder / "tiny.jsonl"), read_lines(folder / "full.jsonl")
    kinds = ", ".join(sorted(pixels["decoded"])) if pixels else "not run"
    out = [HEAD.format(kinds=kinds), "## Full size\n", *encoder_rows(full, FULL, ids)]
    cost = [f"{FULL[row['name']]} {row['parameters'] / 1e6:.0f} M parameters, export {row['peak_gib']} GiB, program "
            f"{row['program_peak_gib']} GiB" for row in {row["name"]: row for row in full}.values()]
    if cost:
        out.append(f"\nLargest resident memory in these runs: {'; '.join(cost)}.")
    out += ["\n## Tiny models of every family\n",
            *encoder_rows(tiny, {row["name"]: f"{row['name']} ({row['architecture']})" for row in tiny}, ids)]
    if pixels:
        out += [f"\n## Image files against Pillow {pixels['pillow']}\n",
                "Orientation in EXIF is ignored, as openai/CLIP and open_clip do; 16-bit grey is scaled (v >> 8), where\n"
                "Pillow's `convert` would turn it white.\n",
                "| files | pictures | decoded values | equal | within 1 | largest |", "|---|---|---|---|---|---|"]
        out += [f"| {kind} | {t['pictures']} | {t['values']:,} | {levels(t['equal'])} | {levels(t['within_1'])} | {t['largest']} |"
                for kind, t in pixels["decoded"].items()]
        out += ["\n| rule: resize, to, size, filter, crop, rounding | pictures | values | equal | within 1 | largest |",
                "|---|---|---|---|---|---|"]
        out += [f"| {rule} | {t['pictures']} | {t['values']:,} | {levels(t['equal'])} | {levels(t['within_1'])} | {t['largest']} |"
                for rule, t in [*pixels["fitted"].items(), ("made-up pictures, 9 rules, raw pixels in", pixels["made_up"])]]
    if ids:
        out += ["\n## Token ids\n", "The real SigLIP vocabularies are not at hand: **not run**.\n",
                "| tokenizer | texts | identical | set aside (the reference's own quirks) | wrong |", "|---|---|---|---|---|"]
        out += [f"| {x['title']} | {x['texts']:,} | {x['equal']:,} | "
                f"{'; '.join(f'{n} {why}' for why, n in x['set_aside'].items()) or '0'} | {x['wrong']} |" for x in ids]
    print("\n".join(out))
    return 0


if __name__ == "__main__":
    sys.exit(main())
