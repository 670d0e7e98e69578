"""CLIP's byte-pair encoding, for the names and prompts the text tower is trained on.

Development only: the program has its own tokenizer. Text here is lower-case ASCII, so the
byte alphabet is the identity on the characters used and no Unicode repair is needed.
"""

import gzip
import re

MERGES = 49152 - 256 - 2  # of the published vocabulary file CLIP uses only these
START, END, PAD = 49406, 49407, 0
CONTEXT = 77
WORDS = re.compile(r"'s|'t|'re|'ve|'m|'ll|'d|[a-z]+|[0-9]|[^\sa-z0-9]+")


def read_merges(path):
    """The merges CLIP uses, in order, from bpe_simple_vocab_16e6.txt.gz (first line: version)."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        lines = file.read().split("\n")
    return lines[1 : 1 + MERGES]


def byte_alphabet():
    """CLIP's 256 one-byte symbols in id order: printable bytes first, the rest shifted to 256+."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [b for b in range(256) if b not in printable]
    return [chr(b) for b in printable] + [chr(256 + i) for i in range(len(others))]


class Bpe:
    def __init__(self, merges):
        pairs = [tuple(line.split()) for line in merges]
        self.rank = {pair: i for i, pair in enumerate(pairs)}
        symbols = byte_alphabet()
        vocabulary = symbols + [s + "</w>" for s in symbols] + ["".join(pair) for pair in pairs]
        self.ids = {symbol: i for i, symbol in enumerate(vocabulary)}

    def word(self, word):
        parts = [*word[:-1], word[-1] + "</w>"]
        while len(parts) > 1:
            ranks = [self.rank.get(pair, MERGES) for pair in zip(parts, parts[1:])]
            best = min(ranks)
            if best == MERGES:
                break
            left, right = next(pair for pair in zip(parts, parts[1:]) if self.rank.get(pair) == best)
            merged, i = [], 0
            while i < len(parts):
                if i + 1 < len(parts) and parts[i] == left and parts[i + 1] == right:
                    merged.append(left + right)
                    i += 2
                else:
                    merged.append(parts[i])
                    i += 1
            parts = merged
        return [self.ids[part] for part in parts]

    def encode(self, text):
        """Ids of the text alone, without start, end and padding."""
        text = " ".join(text.lower().split())
        if not text.isascii():
            raise ValueError(f"bpe: only ASCII text is trained on, got {text!r}")
        return [i for word in WORDS.findall(text) for i in self.word(word)]

    def rows(self, texts):
        """List of rows of CONTEXT ids: start, text, end, padding."""
        rows = []
        for text in texts:
            ids = [START, *self.encode(text)[: CONTEXT - 2], END]
            rows.append(ids + [PAD] * (CONTEXT - len(ids)))
        return rows
