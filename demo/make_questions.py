#!/usr/bin/env python3
"""Writes an open, a choice and an unsolvable question for every item of a manifest.

    demo/make_questions.py demo/items.jsonl -o demo/questions.jsonl

Distractors are those of NEMO's Table B (table_b.csv beside this file). The place of the
right answer is balanced within each condition: every four items in manifest order use each
place once. Order and places hang on a fixed seed and the items before, so items added at the
end (modified twins) leave the questions of the others as they are.
"""

import argparse
import csv
import hashlib
import json
import sys
from collections import Counter
from pathlib import Path

SEED = "probe questions 1"
REJECT = "all other options are incorrect"  # the paper's wording, kept to the letter


def seeded_order(values, *key):
    """The values in an order that hangs only on SEED, the key and the values."""
    prefix = "\x1f".join([SEED, *map(str, key)])
    return sorted(values, key=lambda v: hashlib.sha256(f"{prefix}\x1f{v}".encode()).digest())


def read_distractors(path):
    """name -> its three distractors."""
    with open(path, newline="", encoding="utf-8") as file:
        return {row[0]: row[1:4] for row in list(csv.reader(file))[1:]}


def place(number, kind, condition):
    """Place 0-3 of the right answer of the number-th item of a condition."""
    return seeded_order(range(4), kind, condition, number // 4)[number % 4]


def make_questions(items, distractors):
    """Three questions per item, in the order of the items."""
    questions, seen = [], Counter()
    for item in items:
        name, condition = item["category"], item["condition"]
        if name not in distractors:
            raise ValueError(f"item {item['id']}: {name} is not in Table B")
        number = seen[condition]
        seen[condition] += 1

        def ask(kind, **rest):
            return {"question_id": f"{item['id']}/{kind}", "item_id": item["id"], "type": kind, **rest}

        questions.append(ask("open", answer=name))
        for kind, right in (("choice", name), ("unsolvable", REJECT)):
            answer = place(number, kind, condition)
            choices = seeded_order(distractors[name], kind, item["id"])
            choices.insert(answer, right)
            questions.append(ask(kind, choices=choices, answer=answer))
    return questions


def read_items(path):
    with open(path, encoding="utf-8-sig") as file:
        return [json.loads(line) for line in file if line.strip()]


def write_jsonl(path, rows):
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("items", type=Path, help="manifest, JSON Lines")
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--distractors", type=Path, default=Path(__file__).resolve().parent / "table_b.csv")
    options = parser.parse_args()
    questions = make_questions(read_items(options.items), read_distractors(options.distractors))
    write_jsonl(options.output, questions)
    print(f"{len(questions)} questions", file=sys.stderr)


if __name__ == "__main__":
    main()
