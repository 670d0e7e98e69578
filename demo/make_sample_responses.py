#!/usr/bin/env python3
"""Makes up answers of MLLMs that do not exist, for show.

    demo/make_sample_responses.py

Writes sample_responses.jsonl, sample_responses_fruit.jsonl (open questions under another
wording) and sample_models.csv beside this file. NOTHING HERE WAS MEASURED: every row says
"made_up": true, and `probe` repeats it in every table and figure. The answers only exist so
that each analysis can be tried and drawn without running a multimodal LLM.

Deterministic: every choice hangs on a SHA-256 of the row. How often a made-up model is right
is written in MODELS below; what it says instead comes from the question's own distractors.
"""

import csv
import hashlib
import json
from pathlib import Path

HERE = Path(__file__).resolve().parent
SEED = "probe made-up responses 1"
REJECT = "all other options are incorrect"
# name, family, encoder, LLM, size in 10^9 (None: unknown), and how often it is right, in percent:
# (original, modified) for open, choice, unsolvable.
MODELS = [
    ("made-up-7b", "Made-up A", "demo", "invented-7b", 7, (52, 30), (80, 52), (28, 22)),
    ("made-up-34b", "Made-up A", "demo", "invented-34b", 34, (64, 42), (91, 68), (46, 34)),
    ("made-up-b-2b", "Made-up B", "", "", 2, (46, 25), (69, 44), (16, 10)),
    ("made-up-b-13b", "Made-up B", "", "", 13, (66, 44), (92, 66), (38, 28)),
]
PAIRS_PER_CATEGORY = 2
FRUIT_WORDING = {"made-up-7b": 8, "made-up-b-13b": 5}  # points gained
SENTENCES = ["{}", "{}.", "A {}.", "It is a {}.", "The object in this image is a {}."]


def draw(*key):
    """A number from 0 to 1 that hangs only on SEED and the key."""
    digest = hashlib.sha256("\x1f".join([SEED, *map(str, key)]).encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


def pick(values, *key):
    return values[int(draw(*key) * len(values))]


def read_jsonl(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def sample_items(items):
    """Pairs of a photo and its twin, PAIRS_PER_CATEGORY a category, in manifest order."""
    twins, taken, sample = {}, {}, set()
    for item in items:
        if item.get("original_id"):
            twins.setdefault(item["original_id"], item["id"])
    for item in items:
        if item["id"] in twins and taken.get(item["category"], 0) < PAIRS_PER_CATEGORY:
            taken[item["category"]] = taken.get(item["category"], 0) + 1
            sample |= {item["id"], twins[item["id"]]}
    return [item for item in items if item["id"] in sample]


def open_answer(model, item, name, names, right, wording):
    hard = draw("hard", name) * 40 - 20  # some categories are harder for everyone
    said = name
    if draw(model, item["id"], "open", wording) * 100 >= right - hard:
        said = pick([*names, "fruit", "ball"], model, item["id"], "wrong", wording)
    return pick(SENTENCES, model, item["id"], "sentence", wording).format(said)


def letter_answer(model, question, name, shift, right):
    choices = question["choices"]
    index = question["answer"]
    if draw(model, question["question_id"], "knows") * 100 >= right:
        # Not knowing, it names a favourite of this question, or drifts with the shift.
        wrong = [i for i in range(4) if i != index]
        drifts = draw(model, question["question_id"], shift, "drift") < 0.3
        index = pick(wrong, model, question["question_id"], shift if drifts else "favourite")
        if "apple" in choices and name != "apple" and draw(model, question["question_id"], "apple") < 0.5:
            index = choices.index("apple")
    elif draw(model, question["question_id"], shift, "slip") < 0.04:
        index = (index + 1) % 4
    if draw(model, question["question_id"], shift, "silent") < 0.01:
        return "I am not sure."
    letter = "ABCD"[(index - shift) % 4]
    return pick([letter, letter, letter, f"{letter}: {choices[index]}"], model, question["question_id"], shift, "form")


def responses(items, questions):
    """Rows of the main file and of the fruit wording."""
    by_item = {}
    for question in questions:
        by_item.setdefault(question["item_id"], []).append(question)
    names = sorted({item["category"] for item in items})
    main, fruit = [], []
    for model, _, _, _, _, open_right, choice_right, unsolvable_right in MODELS:
        for item in items:
            side = 0 if item["condition"] == "original" else 1
            for question in by_item[item["id"]]:
                row = {"model": model, "question_id": question["question_id"]}
                if question["type"] == "open":
                    answer = (model, item, question["answer"], names)
                    main.append({**row, "response": open_answer(*answer, open_right[side], "object"), "made_up": True})
                    if model in FRUIT_WORDING:
                        right = open_right[side] + FRUIT_WORDING[model]
                        fruit.append({**row, "response": open_answer(*answer, right, "fruit"), "made_up": True})
                    continue
                right = (choice_right if question["type"] == "choice" else unsolvable_right)[side]
                for shift in range(4):
                    said = letter_answer(model, question, item["category"], shift, right)
                    main.append({**row, "shift": shift, "response": said, "made_up": True})
    return main, fruit


def write_jsonl(path, rows):
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n")


def main():
    items = sample_items(read_jsonl(HERE / "items.jsonl"))
    rows, fruit = responses(items, read_jsonl(HERE / "questions.jsonl"))
    write_jsonl(HERE / "sample_responses.jsonl", rows)
    write_jsonl(HERE / "sample_responses_fruit.jsonl", fruit)
    with open(HERE / "sample_models.csv", "w", encoding="utf-8", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["model", "family", "encoder", "llm", "llm_size_b"])
        out.writerows([name, family, encoder, llm, size or ""] for name, family, encoder, llm, size, *_ in MODELS)
    print(f"{len(items)} items, {len(rows)} + {len(fruit)} made-up responses")


if __name__ == "__main__":
    main()
