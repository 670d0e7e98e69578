#!/usr/bin/env python3
"""Checks the demo encoder's bars with the C++ program (DESIGN.md, ruling 1).

    encoders/demo/check_bars.py GROCERYSTORE_FOLDER [--probe build/release/bin/probe]

Writes a manifest of the grocery *test* split (the photos stay where they are) and the
questions, and lets `probe` do the rest: 4-way choice with three distractors drawn at random
from the 21 names (20 seeded draws), 21-way choice, and O2O hit@5 on 21 x 10 photos.
Needs only Python. Exit status 1 if a bar is missed.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from grocery_names import NEMO_NAMES, grocery_photos

DRAWS, PER_CLASS, SEED = 20, 10, 1
BARS = {"choice of 4": 0.95, "choice of 21": 0.78, "O2O hit@5": 0.90}


def write_lines(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def choice(question_id, item_id, choices, answer):
    row = {"question_id": question_id, "item_id": item_id, "type": "choice"}
    return row | {"choices": choices, "answer": choices.index(answer)}


def make_questions(photos, names, rng):
    """(4-way questions over all draws, 21-way questions)."""
    four, all_names = [], []
    for path, name in photos:
        all_names.append(choice(f"{path}/21", path, names, name))
        wrong = [other for other in names if other != name]
        for draw in range(DRAWS):
            choices = rng.sample(wrong, 3) + [name]
            rng.shuffle(choices)
            four.append(choice(f"{path}/{draw}", path, choices, name))
    return four, all_names


def share(report, table, column):
    rows = next(entry["rows"] for entry in report["tables"] if entry["name"] == table)
    return rows[0][column]["correct"], rows[0][column]["total"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("grocery", type=Path)
    parser.add_argument("--probe", default="build/release/bin/probe")
    options = parser.parse_args()
    photos = grocery_photos(options.grocery, "test")
    names = sorted(set(NEMO_NAMES.values()))
    rng = random.Random(SEED)
    by_name = {name: [photo for photo in photos if photo[1] == name] for name in names}
    few = [photo for name in names for photo in rng.sample(by_name[name], PER_CLASS)]

    def run(*arguments):
        command = [options.probe, *map(str, arguments), "--json", "-q", "--allow-outside"]
        return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)

    with tempfile.TemporaryDirectory() as work:
        work = Path(work)
        root = options.grocery.resolve()

        def manifest(file, chosen):
            rows = [{"id": path, "image": os.fspath(root / path), "category": name} for path, name in chosen]
            write_lines(work / file, rows)
            return work / file

        everything, some = manifest("all.jsonl", photos), manifest("some.jsonl", few)
        four, all_names = make_questions(photos, names, rng)
        write_lines(work / "four.jsonl", four)
        write_lines(work / "21.jsonl", all_names)
        results = {
            "choice of 4": share(
                run("zeroshot", everything, "--questions", work / "four.jsonl"), "choice_by_condition", "accuracy"
            ),
            "choice of 21": share(
                run("zeroshot", everything, "--questions", work / "21.jsonl"), "choice_by_condition", "accuracy"
            ),
            "O2O hit@5": share(run("match", some), "match_o2o", "hit"),
        }
    missed = False
    for what, (correct, total) in results.items():
        value = correct / total
        missed |= value < BARS[what]
        print(f"{what:14} {value:.4f} ({correct}/{total})  bar {BARS[what]:.2f}  {'ok' if value >= BARS[what] else 'MISSED'}")
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
