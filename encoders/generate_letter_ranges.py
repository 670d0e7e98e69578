"""Writes encoders/letter_ranges.inc: letters and numbers as the regex package knows them.

    python encoders/generate_letter_ranges.py > encoders/letter_ranges.inc

openai/CLIP splits words with this package. A table of our own keeps token ids the same
whatever Unicode version the ICU of the machine has.
"""

import importlib.metadata
import textwrap

import regex


def ranges(pattern):
    matches = regex.compile(pattern).match
    found = []
    for code in range(0x110000):
        if 0xD800 <= code < 0xE000 or not matches(chr(code)):
            continue
        if found and found[-1][1] == code - 1:
            found[-1][1] = code
        else:
            found.append([code, code])
    return found


def main():
    version = importlib.metadata.version("regex")
    print(f"// Made by generate_letter_ranges.py from regex {version}: {{first, last}}.")
    for name, pattern in [("kLetterRanges", r"\p{L}"), ("kNumberRanges", r"\p{N}")]:
        found = ranges(pattern)
        print(f"constexpr CodeRange {name}[{len(found)}] = {{")
        words = " ".join(f"{{0x{first:x},0x{last:x}}}," for first, last in found)
        print(textwrap.fill(words, 92, initial_indent="    ", subsequent_indent="    "))
        print("};")


if __name__ == "__main__":
    main()
