"""The texts on which probe's tokenizers are compared with the reference tokenizers.

Category names come from files in the folders given (LVIS lvis_v1_train_cat_info.json, COCO
instances.json and expressions.json, Objects365_names_fix.csv, openimages_names.txt,
nemo_table_*.csv); what is not there is left out. The rest is made here from a seed.
"""

import csv
import html.entities
import json
import random
from pathlib import Path

TEMPLATES = [
    "{}", "a {}", "a photo of a {}.", "a bad photo of the {}.", "itap of my {}",
    "A {} On A White Background", "a low resolution photo of a {}!", "{}s, many of them",
    "the origami {}", "there's a {} in the scene; we've seen it", "{}_{}", "\"{}\" (1 of 314)",
]
COLORS = ["deep purple", "bright yellow", "blue", "silver grey", "black-and-white"]
SHAPES = ["cube-shaped", "star shaped", "long and thin", "spherical"]

# BUGCASES section b and their kind.
AWKWARD = [
    "We could've seen it", "We could\u2019ve seen it", "cr\u00e8me br\u00fbl\u00e9e",
    "cre\u0300me bru\u0302le\u0301e", "salt &amp;amp; pepper", "salt & pepper", "salt &AMP; pepper",
    "M\u00c3\u00bcnchen at night", "M\u00fcnchen at night", " Red\u00a0\u3000 Fox \n",
    "\uff32\uff25\uff24 fox", "a red \ufb02ag", "31 415", "314 15", "a photo of a \U0001f98a",
    "&#129418; cub", "&#x1F98A; cub", "&#x1f98a cub", "\u0130zmir", "two\u200bfoxes", "x\x00y",
    "red fox", "<|endoftext|> red fox", "", "   ", "!", "fox_den", "\u72d0\u72f8 photo",
    "<|startoftext|>", "a <|ENDOFTEXT|> b", "<|\u017ftartoftext|>", "A photo of a Red-Fox, sitting_on the MAT.",
    "Wait...  what?", "It's", "IT'S WE'RE I'M THEY'LL HE'D DON'T", "it'\u017f", "\u201cFox\u2019s\u201d den!",
    "\u039f\u0394\u039f\u03a3 \u03a3\u0391\u03a3 \u03a3", "STRASSE stra\u00dfe \u1e9e", "\u0345\u0391\u0345", "a\u0345b",
    "\u2460\u2461 \u00bd \u0664\u0662 \u4e00\u4e8c", "line one\nline <b>two</b>\nline &lt;three&gt;",
    "&lt;b&gt; &amp;lt; &NTILDE;A &nTILDE; &notin; &notit; &not &copy2024", "&#0; &#13; &#128; &#150; &#xD800; &#x110000; &#1; &#11; &#x7f;",
    "&CounterClockwiseContourIntegral; &acE; &NotEqualTilde;", "\x1b[36;44mred\x1b[0m fox", "\x1b[3\u0664mred",
    "\u00e2\u20ac\u0153like this\u00e2\u20ac\ufffd", "voil\u00c3 le travail", "\u00c3 la mode", "Â£5 Â© 2020",
    "\u0432\u0402\u201dno\u0432\u0402\u201d", "\u00c3\u0192\u00c2\u00b6", "\u00e0\u00b8\u0081", "\u00ef\u00bb\u00bffirst",
    "\u00ed\u00a0\u00bd\u00ed\u00b2\u00a9", "\u00c0\u0080", "\ufeffred \u2028 fox \u2029", "\u3138\uff9e\uff76\uff9e \u00b4 \uff07",
    "\u01c4\u01c5\u01c6 \u0149 \ufb05 \u0132", "e\u0301\u0323 \u1e69 s\u0323\u0307", "a\r\nb\rc\u0085d", "\x80\x85\x99 control",
    "na\u00efve caf\u00e9 \u00bfqu\u00e9?", "100% \u20ac50 \u00b15\u00b0", "a" * 500, "ab" * 400, "\u00e9" * 300,
    "the quick brown fox " * 40, "supercalifragilisticexpialidocious-antidisestablishmentarianism",
]

MIXUPS = ["latin-1", "cp1252", "cp1251", "cp1250", "cp1253", "cp1254", "cp1257", "iso-8859-2",
          "mac-roman", "cp437"]
SAMPLES = [
    "M\u00fcnchen", "\u00e0 la carte", "\u201cquoted\u201d", "d\u00e9j\u00e0 vu", "na\u00efve\u2026", "\u2014 dash \u2014", "\u20ac 5", "\u041c\u043e\u0441\u043a\u0432\u0430", "\u03b1\u03b2\u03b3 \u0395\u03bb\u03bb\u03ac\u03b4\u03b1",
    "\u0645\u0631\u062d\u0628\u0627", "\u65e5\u672c\u8a9e", "\ud55c\uad6d\uc5b4", "\U0001f98a fox", "\u010desk\u00fd", "\u0141\u00f3d\u017a", "\u0130stanbul", "\u0928\u092e\u0938\u094d\u0924\u0947", "l\u2019\u00e9t\u00e9", "\u00f1and\u00fa", "\u2713 done",
]


def names(folders):
    found = []
    for folder in map(Path, folders):
        for path in sorted(folder.rglob("*")):
            if path.name == "lvis_v1_train_cat_info.json":
                for entry in json.loads(path.read_text()):
                    found += [entry["name"], *entry["synonyms"], entry["def"]]
            elif path.name == "instances.json":
                found += [entry["name"] for entry in json.loads(path.read_text())["categories"]]
            elif path.name == "expressions.json":
                found += strings_in(json.loads(path.read_text()))
            elif path.name in ("Objects365_names_fix.csv", "openimages_names.txt"):
                for line in path.read_text().splitlines():
                    found += [part.strip() for part in line.split(",")]
            elif path.name.startswith("nemo_table_") and path.suffix == ".csv":
                with path.open() as stream:
                    for row in csv.reader(stream):
                        found += row
    return sorted({name for name in found if name})


def strings_in(value):
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [text for entry in value for text in strings_in(entry)] if isinstance(value, list) else []


def random_character(rng):
    while True:
        kind = rng.random()
        if kind < 0.3:
            code = rng.randrange(0x20, 0x7F)
        elif kind < 0.6:
            code = rng.randrange(0x250)
        elif kind < 0.9:
            code = rng.randrange(0x3000)
        else:
            code = rng.randrange(0x20000)
        if not 0xD800 <= code < 0xE000:
            return chr(code)


def random_unicode(rng):
    return "".join(random_character(rng) for _ in range(rng.randrange(1, 24)))


def mixed_up(rng):
    """UTF-8 read as something else, once or twice, at times damaged or embedded."""
    text = rng.choice(SAMPLES) + rng.choice(["", " ", " fox", "\n", "!"])
    for _ in range(rng.choice([1, 1, 2])):
        raw = text.encode("utf-8")
        page = rng.choice(MIXUPS)
        text = "".join(
            bytes([b]).decode(page, errors="replace") if rng.random() > 0.02 else "?" for b in raw)
        if rng.random() < 0.5:
            text = "".join(chr(b) if c == "\ufffd" else c for b, c in zip(raw, text))
    if rng.random() < 0.3:
        text = text.replace("\u00a0", " ")
    if rng.random() < 0.3:
        text = rng.choice(SAMPLES) + " " + text
    return text


def with_references(rng):
    names_of = sorted(html.entities.html5)
    parts = []
    for _ in range(rng.randrange(1, 5)):
        name = rng.choice(names_of)
        parts.append(rng.choice([
            f"&{name}", f"&{name.upper()}", f"&{name.rstrip(';')}x", f"&#{rng.randrange(0x120000)};",
            f"&#x{rng.randrange(0x300):x}", f"&amp;{name}", f"&{name[:3]};", "<", "&", "&#", "&#x;",
            f"&#{rng.randrange(256)};"]))
        parts.append(rng.choice(["", " ", "fox", "\n", ";"]))
    return "".join(parts)


def random_words(rng, words):
    count = rng.randrange(1, 60)
    return rng.choice([" ", " ", "  ", "\t", "-", "_"]).join(rng.choice(words) for _ in range(count))


def corpus(folders, seed=4):
    """[(kind, text)], at least 20,000 of them with the name files at hand."""
    rng = random.Random(seed)
    known = names(folders) or ["fox", "red fox", "apple"]
    texts = [("names", name) for name in known]
    for name in known:
        for template in rng.sample(TEMPLATES, 3):
            texts.append(("templates", template.replace("{}", name)))
        attribute = rng.choice(COLORS + SHAPES)
        texts.append(("templates", f"a photo of a {attribute} {name}"))
    texts += [("awkward", text) for text in AWKWARD]
    texts += [("random unicode", random_unicode(rng)) for _ in range(5000)]
    texts += [("mixed-up encodings", mixed_up(rng)) for _ in range(4000)]
    texts += [("html references", with_references(rng)) for _ in range(3000)]
    texts += [("long texts", random_words(rng, known)) for _ in range(500)]
    kinds = [("random unicode", lambda: random_unicode(rng)), ("mixed-up encodings", lambda: mixed_up(rng)),
             ("html references", lambda: with_references(rng)), ("long texts", lambda: random_words(rng, known))]
    while len(texts) < 20_000:  # without the name files
        texts += [(kind, make()) for kind, make in kinds]
    return texts
