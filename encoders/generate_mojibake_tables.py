"""Writes encoders/mojibake_tables.inc: which characters tell wrongly decoded text.

    python encoders/generate_mojibake_tables.py > encoders/mojibake_tables.inc

Needs ftfy (6.3.1). The classes are the data of ftfy.badness and ftfy.chardata (Apache-2.0,
Robyn Speer); the code pages are Python's, with holes filled as browsers do.
"""

import re
import textwrap

import ftfy
from ftfy import badness, chardata

CATEGORIES = [
    "common", "c1", "bad", "law", "currency", "start_punctuation", "end_punctuation",
    "numeric", "kaomoji", "upper_accented", "lower_accented", "upper_common",
    "lower_common", "box",
]
CLUES = ["utf8_first_of_2", "utf8_first_of_3", "utf8_first_of_4", "utf8_continuation",
         "utf8_continuation_strict"]
PAGES = ["cp1252", "cp1251", "cp1250", "cp1253", "cp1254", "cp1257", "iso-8859-2",
         "mac-roman", "cp437"]


def constant(name):
    return "k" + "".join(part.capitalize() for part in name.split("_"))


def wrapped(words):
    return textwrap.fill(" ".join(words), 92, initial_indent="    ", subsequent_indent="    ")


def main():
    classes = [(name, badness.MOJIBAKE_CATEGORIES[name]) for name in CATEGORIES]
    classes += [(name, chardata.UTF8_CLUES[name]) for name in CLUES]
    assert set(badness.MOJIBAKE_CATEGORIES) == set(CATEGORIES)
    assert set(chardata.UTF8_CLUES) == set(CLUES)
    print(f"// Made by generate_mojibake_tables.py from ftfy {ftfy.__version__} (Apache-2.0).")
    for bit, (name, _) in enumerate(classes):
        print(f"constexpr std::uint32_t {constant(name)} = 1u << {bit};")
    masks = {}
    for bit, (_, members) in enumerate(classes):
        pattern = re.compile(f"[{members}]")
        for code in range(0x10000):
            if pattern.match(chr(code)):
                masks[code] = masks.get(code, 0) | 1 << bit
    print("\n// {code point, classes}, ascending.")
    print(f"constexpr CharacterClasses kCharacterClasses[{len(masks)}] = {{")
    print(wrapped(f"{{0x{code:x},0x{mask:x}}}," for code, mask in sorted(masks.items())))
    print("};\n\n// Characters of bytes 128 to 255; holes hold the byte's own number.")
    print(f"constexpr char16_t kCodePages[{len(PAGES)}][128] = {{")
    for page in PAGES:
        codes = []
        for byte in range(0x80, 0x100):
            decoded = bytes([byte]).decode(page, errors="replace")
            codes.append(byte if decoded == "\ufffd" else ord(decoded))
        print(f"    {{  // {page}")
        print(wrapped(f"0x{code:x}," for code in codes) + "},")
    print("};")


if __name__ == "__main__":
    main()
