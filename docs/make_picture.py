#!/usr/bin/env python3
"""Draws docs/demo.svg, the picture at the top of the README, from what the program prints.

    docs/make_picture.py [build/release/bin/probe]
"""

import html
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
PROBE = sys.argv[1] if len(sys.argv) > 1 else "build/release/bin/probe"
COMMANDS = [
    ("probe zeroshot demo", ["zeroshot", "demo", "-q"], 2),
    ("probe match demo --mode both", ["match", "demo", "--mode", "both", "-q"], None),
]


def blocks(text):
    """The tables of an output, each as its lines."""
    return [block.split("\n") for block in text.strip("\n").split("\n\n")]


lines = []
for shown, arguments, count in COMMANDS:
    output = subprocess.run([PROBE, *arguments], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    tables = [table for table in blocks(output) if not re.search(r"\b[bB]y ", table[0])]
    lines.append(("command", f"$ {shown}"))
    for table in tables[:count]:
        lines.append(("title", table[0]))
        lines += [("text", line) for line in table[1:]]
        lines.append(("text", ""))
line_height, width = 18, 8.43 * max(len(line) for _, line in lines) + 40
height = line_height * len(lines) + 30
style = {"command": "fill:#7ee787", "title": "fill:#ffffff;font-weight:bold", "text": "fill:#c9d1d9"}
svg = [
    f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" width="{width:.0f}" role="img" aria-label="Output of probe zeroshot and probe match on the demo photos">',
    f'<rect width="100%" height="100%" rx="8" fill="#0d1117"/>',
    '<g font-family="ui-monospace, DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="14" xml:space="preserve">',
]
for i, (kind, line) in enumerate(lines):
    svg.append(f'<text x="20" y="{30 + i * line_height}" style="{style[kind]}">{html.escape(line)}</text>')
(ROOT / "docs/demo.svg").write_text("\n".join([*svg, "</g>", "</svg>", ""]))
