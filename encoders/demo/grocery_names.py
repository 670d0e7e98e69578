"""Which photos of the grocery store set show one of NEMO's fruits."""

import sys
from pathlib import Path

# Folder of the set -> name in NEMO's Table A. Nectarine is the one fruit folder NEMO lacks;
# it is a name of its own in training and takes no part in the evaluation.
NEMO_NAMES = {
    "Apple": "apple",
    "Avocado": "avocado",
    "Banana": "banana",
    "Kiwi": "kiwi",
    "Lemon": "lemon",
    "Lime": "lime",
    "Mango": "mango",
    "Melon/Cantaloupe": "cantaloupe",
    "Melon/Galia-Melon": "melon",
    "Melon/Honeydew-Melon": "melon",
    "Melon/Watermelon": "watermelon",
    "Orange": "orange",
    "Papaya": "papaya",
    "Passion-Fruit": "passionfruit",
    "Peach": "peach",
    "Pear": "pear",
    "Pineapple": "pineapple",
    "Plum": "plum",
    "Pomegranate": "pomegranate",
    "Red-Grapefruit": "grapefruit",
    "Satsumas": "mandarine",
    "Tomato": "tomato",
}
EXTRA_NAMES = {"Nectarine": "nectarine"}


def grocery_photos(root, split, extra=False):
    """List of (path relative to root, name) in the order of the split's list file.

    split is train, val or test; photos of no name above (vegetables, packages) are left out.
    """
    names = NEMO_NAMES | EXTRA_NAMES if extra else NEMO_NAMES
    photos, absent = [], []
    for line in (Path(root) / f"{split}.txt").read_text().splitlines():
        path = line.split(",")[0].strip()
        folders = path.split("/")[2:-1]
        for depth in (1, 2):
            name = names.get("/".join(folders[:depth]))
            if name is not None:
                (photos if (Path(root) / path).exists() else absent).append((path, name))
                break
    if absent:
        print(f"{root}: {len(absent)} photos of the {split} list are absent, first {absent[0][0]}", file=sys.stderr)
    return photos
