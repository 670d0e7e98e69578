"""Names and the text vectors the demo encoder learns: real CLIP vectors, borrowed and made-up ones.

A concept is one vector with one or more names ("persimmon", "kaki"). Real vectors are CLIP
ViT-B/32 embeddings of "a {name}" for the LVIS, OpenImages and Objects365 label sets.
"""

import csv
import json
import re
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch

HERE = Path(__file__).parent
NEIGHBOUR_SHARE = 0.7  # how much of a made-up vector comes from related names
SEED = 7


@dataclass
class Concepts:
    """Row i of vectors [k, 512] (unit, centred) belongs to the names in names[i]."""

    vectors: torch.Tensor = None
    names: list = field(default_factory=list)
    kind: list = field(default_factory=list)  # "clip" or "near" per concept
    index: dict = field(default_factory=dict)  # name -> concept

    def add(self, names, kind):
        self.names.append([])
        self.kind.append(kind)
        for name in names:
            self.add_name(name, len(self.names) - 1)
        return len(self.names) - 1

    def add_name(self, name, concept):
        if name not in self.index:
            self.index[name] = concept
            self.names[concept].append(name)


def plain(label):
    """ "kiwi_fruit" -> "kiwi fruit", "date_(fruit)" -> "date", lower case."""
    return re.sub(r"_?\([^)]*\)", "", label).replace("_", " ").strip().lower()


def clip_labels(folder):
    """Yields (names, vector [512]) of the three label sets; the first name is the embedded one."""
    folder = Path(folder)
    lvis = json.loads((folder / "lvis_v1_train_cat_info.json").read_text())
    # The embedded LVIS name ("name") leads; its synonyms follow.
    sets = [([[c["name"], *c["synonyms"]] for c in lvis], "lvis_v1_clip_a+cname.npy")]
    lines = (folder / "openimages_names.txt").read_text().splitlines()
    sets.append(([[line] for line in lines], "oid_clip_a+cname.npy"))
    with open(folder / "Objects365_names_fix.csv", newline="") as file:
        rows = [row[2] for row in csv.reader(file)]
    sets.append(([[row] for row in rows], "o365_clip_a+cnamefix.npy"))
    for labels, file in sets:
        vectors = np.load(folder / file).astype(np.float32)
        if len(vectors) != len(labels):
            raise ValueError(f"{file}: expected {len(labels)} rows, got {len(vectors)}")
        for names, vector in zip(labels, vectors):
            # "Cup/Mug" and "Other Fish" are groups, not names.
            if "/" not in names[0] and not names[0].startswith("Other "):
                yield [plain(name) for name in names], vector / np.linalg.norm(vector)


def load_concepts(folder):
    """All concepts: those of the label sets first, then the made-up ones of borrowed.tsv."""
    concepts, sums = Concepts(), []
    labels = list(clip_labels(folder))
    for names, vector in labels:
        concept = concepts.index.get(names[0])
        if concept is None:
            concept = concepts.add(names[:1], "clip")
            sums.append(np.zeros_like(vector))
        sums[concept] += vector
    for names, _ in labels:  # synonyms last, so that they never take a real label's place
        for name in names[1:]:
            concepts.add_name(name, concepts.index[names[0]])
    means = np.stack([v / np.linalg.norm(v) for v in sums])
    centred = torch.from_numpy(means - means.mean(0))
    rows = list(torch.nn.functional.normalize(centred, dim=1))
    generator = torch.Generator().manual_seed(SEED)
    for kind, name, sources in read_borrowed():
        parts = [concepts.index[source] for source in sources]
        if kind == "same":
            concepts.add_name(name, parts[0])
        elif name in concepts.index:
            raise ValueError(f"borrowed.tsv: {name} has a vector of its own")
        else:
            near = torch.nn.functional.normalize(torch.stack([rows[p] for p in parts]).mean(0), dim=0)
            away = torch.nn.functional.normalize(torch.randn(len(near), generator=generator), dim=0)
            concepts.add([name], "near")
            share = NEIGHBOUR_SHARE
            rows.append(torch.nn.functional.normalize(share * near + (1 - share**2) ** 0.5 * away, dim=0))
    concepts.vectors = torch.stack(rows)
    return concepts


def read_borrowed():
    lines = (HERE / "names" / "borrowed.tsv").read_text().splitlines()
    for line in [line for line in lines if not line.startswith("#")][1:]:
        kind, name, sources = line.split("\t")
        yield kind, name, sources.split("|")
