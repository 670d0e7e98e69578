"""Writes encoders/html_entities_table.inc from Python's own list of HTML 5 entities.

    python encoders/generate_html_entities.py > encoders/html_entities_table.inc

Entry: name, '*' if it may stand without ';', '=', code points in hex joined by '+'.
"""

import html.entities
import textwrap


def main():
    table = html.entities.html5
    names = sorted(name[:-1] for name in table if name.endswith(";"))
    bare = {name for name in table if not name.endswith(";")}
    assert bare <= set(names)
    assert all(table[name] == table[name + ";"] for name in bare)
    words = []
    for name in names:
        codes = "+".join(f"{ord(c):x}" for c in table[name + ";"])
        words.append(f"{name}{'*' if name in bare else ''}={codes}")
    print("// Made by generate_html_entities.py from Python's html.entities.html5.")
    for line in textwrap.wrap(" ".join(words), 90, break_long_words=False):
        print(f'"{line} "')


if __name__ == "__main__":
    main()
