#!/usr/bin/env python3
"""Picks the demo's original photos and writes items.jsonl, questions.jsonl and SOURCES.tsv.

    demo/make_demo.py DATA REFERENCE

DATA holds `grocerystore` and `crops_parser`, REFERENCE the tables of the NEMO paper as CSV.
Run once by developers; the program and its tests use what it wrote.

The rule for the 21 classes of the grocery set: from the *test* split (the demo encoder was
trained on the train split), of the photos of at most 28,000 bytes, ten per class. Photos of
a class are ordered by SHA-256 of "SEED path" and taken in turns from the varieties (an
apple of each sort before a second one of any). The twelve classes of the crops set have one
photo each. Files are copied byte for byte.
"""

import argparse
import hashlib
import re
import shutil
import sys
from pathlib import Path

from make_questions import make_questions, read_distractors, write_jsonl

HERE = Path(__file__).resolve().parent
SEED = "probe demo 1"
PER_CLASS = 10
LARGEST = 28_000  # bytes; keeps the folder, with its modified twins, below 12 MB

GROCERY = {
    "Fruit/Apple": "apple",
    "Fruit/Avocado": "avocado",
    "Fruit/Banana": "banana",
    "Fruit/Kiwi": "kiwi",
    "Fruit/Lemon": "lemon",
    "Fruit/Lime": "lime",
    "Fruit/Mango": "mango",
    "Fruit/Melon/Cantaloupe": "cantaloupe",
    "Fruit/Melon/Galia-Melon": "melon",
    "Fruit/Melon/Honeydew-Melon": "melon",
    "Fruit/Melon/Watermelon": "watermelon",
    "Fruit/Orange": "orange",
    "Fruit/Papaya": "papaya",
    "Fruit/Passion-Fruit": "passionfruit",
    "Fruit/Peach": "peach",
    "Fruit/Pear": "pear",
    "Fruit/Pineapple": "pineapple",
    "Fruit/Plum": "plum",
    "Fruit/Pomegranate": "pomegranate",
    "Fruit/Red-Grapefruit": "grapefruit",
    "Fruit/Satsumas": "mandarine",
    "Vegetables/Tomato": "tomato",
}
# NEMO name -> file of the crops set
CROPS = {
    "apricot": "apricot",
    "blueberry": "blueberry",
    "cherry": "cherry",
    "cocos": "coconut",
    "date": "date",
    "fig": "fig",
    "grape": "grape",
    "guava": "guava",
    "kaki": "persimmon",
    "mangostan": "mangosteen",
    "raspberry": "raspberry",
    "strawberry": "strawberry",
}
TABLES = {
    "nemo_table_a_colors.csv": "table_a.csv",
    "nemo_table_b_distractors.csv": "table_b.csv",
    "nemo_table2.csv": "nemo_table2.csv",
}


def sha256_hex(text):
    return hashlib.sha256(text.encode()).hexdigest()


def grocery_by_class(root):
    """name -> variety folder -> paths of the test split, seeded order, small enough ones."""
    classes = {}
    for line in (root / "test.txt").read_text().splitlines():
        path = line.split(",")[0].strip()
        folder = path.split("/", 1)[1].rsplit("/", 1)[0]
        name = next((n for prefix, n in GROCERY.items() if f"{folder}/".startswith(f"{prefix}/")), None)
        if name is not None and (root / path).stat().st_size <= LARGEST:
            classes.setdefault(name, {}).setdefault(folder, []).append(path)
    for varieties in classes.values():
        for paths in varieties.values():
            paths.sort(key=lambda path: sha256_hex(f"{SEED} {path}"))
    return classes


def take_in_turns(varieties, count):
    """count paths, one from each variety in turn; a class with fewer is an error."""
    queues = [list(paths) for _, paths in sorted(varieties.items())]
    taken = []
    while len(taken) < count:
        if not any(queues):
            raise SystemExit(f"make_demo: wanted {count} photos, found {len(taken)} in {sorted(varieties)}")
        for queue in queues:
            if queue and len(taken) < count:
                taken.append(queue.pop(0))
    return taken


def crops_attributions(root):
    """file stem -> (author, licence, address) from the set's LICENSE.md."""
    row = re.compile(r"\[`(.+?)\.jpg`\]\(.+?\) \| (.+?) \| (.+?) \| (\S+)")
    found = row.findall((root / "LICENSE.md").read_text(encoding="utf-8"))
    return {stem: (author, licence, address) for stem, author, licence, address in found}


def copy_original(source, name, number):
    """Copies one photo into originals/ and returns its item."""
    item_id = f"{name}-{number:02}"
    target = HERE / "originals" / name / f"{item_id}.jpg"
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
    image = target.relative_to(HERE).as_posix()
    return {"id": item_id, "image": image, "category": name, "condition": "original"}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("reference", type=Path)
    options = parser.parse_args()
    grocery, crops = options.data / "grocerystore", options.data / "crops_parser" / "images"

    items, sources = [], ["id\tset\tsource file\tauthor\tlicence\taddress\tsha256"]

    def add(source, name, number, set_name, credit):
        item = copy_original(source, name, number)
        items.append(item)
        digest = hashlib.sha256(source.read_bytes()).hexdigest()
        sources.append("\t".join([item["id"], set_name, *credit, digest]))

    for name, varieties in sorted(grocery_by_class(grocery).items()):
        for number, path in enumerate(take_in_turns(varieties, PER_CLASS), 1):
            credit = (path, "Marcus Klasson and others", "MIT", "https://github.com/marcusklasson/GroceryStoreDataset")
            add(grocery / path, name, number, "GroceryStoreDataset", credit)
    credits = crops_attributions(crops)
    for name, stem in sorted(CROPS.items()):
        add(crops / f"{stem}.jpg", name, 1, "crops_parser", (f"{stem}.jpg", *credits[stem]))

    for source, target in TABLES.items():
        shutil.copyfile(options.reference / source, HERE / target)
        (HERE / target).chmod(0o644)
    shutil.copyfile(grocery / "LICENSE", HERE / "LICENSE.grocerystore")
    (HERE / "LICENSE.grocerystore").chmod(0o644)
    write_jsonl(HERE / "items.jsonl", items)
    write_jsonl(HERE / "questions.jsonl", make_questions(items, read_distractors(HERE / "table_b.csv")))
    (HERE / "SOURCES.tsv").write_text("\n".join(sources) + "\n", encoding="utf-8")
    size = sum((HERE / item["image"]).stat().st_size for item in items)
    print(f"{len(items)} photos, {len({i['category'] for i in items})} classes, {size:,} bytes", file=sys.stderr)


if __name__ == "__main__":
    main()
