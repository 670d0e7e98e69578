"""Which names an ImageNet class stands for. names/imagenet_classes.txt lists the 1000 classes."""

from pathlib import Path

HERE = Path(__file__).parent

# First and last class -> names. A later line wins; an empty tuple means "no name fits".
RANGES = (
    (7, 7, ("rooster",)),
    (8, 8, ("chicken",)),
    (10, 21, ("bird",)),
    (22, 22, ("eagle",)),
    (24, 24, ("owl",)),
    (30, 30, ("bullfrog", "frog")),
    (31, 32, ("frog",)),
    (33, 35, ("sea turtle", "turtle")),
    (36, 37, ("turtle", "tortoise")),
    (38, 48, ("lizard",)),
    (49, 49, ("crocodile",)),
    (50, 50, ("alligator",)),
    (51, 51, ("dinosaur",)),
    (52, 68, ("snake",)),
    (63, 63, ("cobra", "snake")),
    (72, 77, ("spider",)),
    (80, 83, ("bird",)),
    (84, 84, ("peacock",)),
    (85, 86, ("bird",)),
    (87, 90, ("parrot",)),
    (91, 96, ("bird",)),
    (94, 94, ("hummingbird",)),
    (97, 98, ("duck",)),
    (100, 100, ("swan",)),
    (101, 101, ("elephant",)),
    (102, 103, ()),
    (104, 104, ("kangaroo",)),
    (118, 121, ("crab",)),
    (122, 123, ("lobster",)),
    (127, 143, ("bird",)),
    (130, 130, ("flamingo",)),
    (131, 132, ("heron", "bird")),
    (146, 146, ("bird", "seabird")),
    (147, 148, ("whale",)),
    (149, 149, ("manatee",)),
    (150, 150, ("sea lion", "seal")),
    (151, 268, ("dog",)),
    (269, 271, ("wolf",)),
    (273, 275, ("dog", "wolf")),
    (276, 276, ()),
    (277, 280, ("fox",)),
    (281, 285, ("cat",)),
    (286, 286, ("cougar",)),
    (289, 289, ("leopard",)),
    (294, 294, ("grizzlybear", "brown bear", "bear")),
    (295, 295, ("blackbear", "bear")),
    (296, 296, ("polar bear",)),
    (297, 297, ("blackbear", "bear")),
    (300, 300, ("beetle",)),
    (302, 307, ("beetle",)),
    (308, 308, ("insect",)),
    (311, 318, ("insect",)),
    (314, 314, ("cockroach",)),
    (319, 320, ("dragonfly",)),
    (321, 326, ("butterfly",)),
    (328, 329, ("marine invertebrates",)),
    (330, 332, ("rabbit",)),
    (334, 334, ("porcupine", "hedgehog")),
    (338, 338, ("guineapig",)),
    (339, 339, ("horse",)),
    (341, 343, ("pig",)),
    (345, 347, ("cattle", "bull")),
    (348, 349, ("sheep", "ram")),
    (350, 350, ("goat",)),
    (351, 353, ("antelope",)),
    (354, 354, ("camel",)),
    (355, 355, ("alpaca",)),
    (365, 365, ("monkey",)),
    (367, 367, ("chimpanzee",)),
    (368, 384, ("monkey",)),
    (372, 372, ("baboon",)),
    (387, 387, ()),
    (389, 397, ("fish",)),
    (397, 397, ("puffer",)),
    (404, 404, ("airplane",)),
    (408, 408, ()),
    (468, 468, ("taxi",)),
    (491, 491, ("chainsaw",)),
    (593, 593, ()),
    (607, 607, ("pumpkin",)),
    (638, 639, ("swimsuit",)),
    (681, 681, ("laptop",)),
    (684, 684, ()),
    (744, 744, ("missile",)),
    (924, 924, ("guacamole",)),
    (940, 942, ("squash",)),
    (948, 948, ("apple",)),
    (955, 956, ()),
    (952, 952, ("fig", "common fig")),
    (992, 997, ("mushroom",)),
    (991, 991, ()),
    (998, 998, ()),
)
# Classes whose lemma or last word names something else ("apiary, bee house" is no house).
NO_NAME = {410, 442, 450, 458, 480, 498, 571, 622, 743, 755, 762, 767, 787, 874, 986}
# Words at the end of a class name that do not say what it is ("neck brace" is no brace here).
NO_HEAD_NOUN = {"apple", "orange", "date", "ball", "star", "stick", "board", "kit", "fish", "stand"}


def class_names(concepts):
    """1000 tuples of known names: a range above, else a lemma, else a lemma's last word."""
    by_range = {i: names for first, last, names in RANGES for i in range(first, last + 1)}
    mapped = []
    for i, line in enumerate((HERE / "names" / "imagenet_classes.txt").read_text().splitlines()):
        lemmas = [lemma.strip().lower() for lemma in line.split(",")]
        heads = [lemma.split()[-1] for lemma in lemmas if " " in lemma]
        if i in NO_NAME:
            names = ()
        elif i in by_range:
            names = by_range[i]
            unknown = [name for name in names if name not in concepts]
            if unknown:
                raise ValueError(f"ImageNet class {i}: {unknown} are no known names")
        else:
            known = [lemma for lemma in lemmas if lemma in concepts]
            known += [head for head in heads if head in concepts and head not in NO_HEAD_NOUN]
            names = tuple(known[:1])
        mapped.append(names)
    return mapped
