"""Compares probe's token ids with the reference tokenizers.

    python compare_ids.py DUMP_IDS CLIP_MERGES SPIECE_OR_- NAME_FOLDER...

CLIP: openai's own simple_tokenizer.py (package openai-clip) with ftfy. SentencePiece: the
given models, or with '-' one of 32,000 pieces trained here on the same texts, through
Hugging Face's SiglipTokenizer (and T5's with the same model, as open_clip has it) after
open_clip's canonical form. Exits 1 if any id differs.
"""

import argparse
import collections
import importlib.metadata
import importlib.util
import json
import pathlib
import re
import string
import subprocess
import sys
import tempfile
import warnings

from text_corpus import corpus


def load_openai_tokenizer():
    """The module alone: the package itself would import torch."""
    package = importlib.util.find_spec("clip")
    path = pathlib.Path(package.submodule_search_locations[0]) / "simple_tokenizer.py"
    spec = importlib.util.spec_from_file_location("simple_tokenizer", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def framed(texts):
    return b"".join(f"{len(raw)}\n".encode() + raw for raw in (t.encode() for t in texts))


def probe_ids(tool, arguments, texts):
    out = subprocess.run([tool, *map(str, arguments)], input=framed(texts),
                         capture_output=True, check=True).stdout.decode()
    rows = [[int(word) for word in line.split()] for line in out.splitlines()]
    assert len(rows) == len(texts), (len(rows), len(texts))
    return rows


RESULTS = []  # for --json


def report(title, texts, want, got, shown=8, excuse=lambda reference, ours: None):
    """`excuse` names the reason why a difference is none of probe's, or gives None."""
    counts = collections.Counter()
    wrong = collections.defaultdict(list)
    set_aside = collections.Counter()
    for (kind, text), reference, ours in zip(texts, want, got):
        counts[kind] += 1
        if reference == ours:
            continue
        reason = excuse(reference, ours)
        if reason:
            set_aside[reason] += 1
        else:
            wrong[kind].append((text, reference, ours))
    total, bad = sum(counts.values()), sum(map(len, wrong.values()))
    print(f"{title}: {total - bad - set_aside.total()} of {total} texts with identical ids, "
          f"{set_aside.total()} set aside, {bad} wrong")
    RESULTS.append({"title": title, "texts": total, "equal": total - bad - set_aside.total(),
                    "set_aside": dict(set_aside), "wrong": bad})
    for reason, count in set_aside.items():
        print(f"  set aside: {count} {reason}")
    for kind, count in counts.items():
        print(f"  {kind}: {count - len(wrong[kind])} of {count}")
        for text, reference, ours in wrong[kind][:shown]:
            print(f"    {text!r}\n      reference {reference}\n      probe     {ours}")
    return bad == 0


def compare_clip(tool, merges, texts):
    module = load_openai_tokenizer()
    tokenizer = module.SimpleTokenizer(str(merges))
    start, end = tokenizer.encoder["<|startoftext|>"], tokenizer.encoder["<|endoftext|>"]
    want = [[start, *tokenizer.encode(text), end] for _, text in texts]
    got = probe_ids(tool, ["clip_bpe", merges.parent, merges.name, start, end, 0, "ftfy", "none",
                           1], [text for _, text in texts])
    version = importlib.metadata.version
    return report(f"CLIP BPE against openai-clip {version('openai-clip')}, "
                  f"ftfy {version('ftfy')}, regex {version('regex')}", texts, want, got)


def canonical(text):
    """open_clip's canonicalize_text."""
    text = text.replace("_", " ").translate(str.maketrans("", "", string.punctuation))
    return " ".join(text.lower().split())


def train_model(texts, folder):
    import sentencepiece

    source = folder / "texts.txt"
    lines = {re.sub(r"\s+", " ", canonical(text)) for _, text in texts}
    source.write_text("\n".join(sorted(line for line in lines if line)))
    sentencepiece.SentencePieceTrainer.train(
        input=str(source), model_prefix=str(folder / "spiece"), vocab_size=32000,
        model_type="unigram", pad_id=0, eos_id=1, unk_id=2, bos_id=-1, hard_vocab_limit=False,
        minloglevel=2, num_threads=2)
    return folder / "spiece.model"


def compare_sentencepiece(tool, model, texts):
    import sentencepiece
    import transformers
    from transformers import SiglipTokenizer

    processor = sentencepiece.SentencePieceProcessor(model_file=str(model))
    end, pieces = processor.eos_id(), processor.get_piece_size()
    tokenizer = SiglipTokenizer(vocab_file=str(model), pad_token=processor.id_to_piece(end))
    # NUL ends a text for one side or the other; neither is a reference.
    texts = [(kind, text) for kind, text in texts if "\0" not in text]
    clean = [canonical(text) for _, text in texts]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        want = [tokenizer(text)["input_ids"] for text in clean]
    arguments = ["sentencepiece", model.parent, model.name, -1, end, end, "none", "siglip", 1]
    got = probe_ids(tool, arguments, [text for _, text in texts])

    blank, unknown = processor.piece_to_id("\u2581"), processor.unk_id()

    def excuse(reference, ours):
        # SiglipTokenizer encodes "<unk>" + a blank piece + text and takes the "<unk>" off
        # again. SentencePiece itself, big_vision and open_clip's T5 tokenizer do not.
        if reference[:2] == [blank, blank] and reference[1:] == ours:
            return "with a second blank piece that only SiglipTokenizer puts before the text"
        if ours[0] == unknown and reference == ours[1:]:
            return "whose first unknown piece SiglipTokenizer takes for its own prefix"
        return tie(reference, ours)

    good = report(f"SentencePiece {model.name} ({pieces} pieces) against transformers "
                  f"{transformers.__version__} SiglipTokenizer", texts, want, got,
                  excuse=excuse)
    plain = [processor.encode(text) + [end] for text in clean]
    return report(f"SentencePiece {model.name} against sentencepiece "
                  f"{sentencepiece.__version__}", texts, plain, got, excuse=tie) and good


def tie(reference, ours):
    """The same pieces have the same score in any order; versions break ties otherwise."""
    if sorted(reference) == sorted(ours):
        return "with the same pieces in another order, of equal score"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tool")
    parser.add_argument("merges", type=pathlib.Path)
    parser.add_argument("models", help="comma-separated SentencePiece models; '-' trains one")
    parser.add_argument("folders", nargs="*")
    parser.add_argument("--json", type=pathlib.Path, help="write the counts there")
    options = parser.parse_args()
    texts = corpus(options.folders)
    good = compare_clip(options.tool, options.merges, texts)
    with tempfile.TemporaryDirectory() as folder:
        for name in options.models.split(","):
            model = (train_model(texts, pathlib.Path(folder)) if name == "-"
                     else pathlib.Path(name))
            good = compare_sentencepiece(options.tool, model, texts) and good
    if options.json:
        options.json.write_text(json.dumps(RESULTS, indent=1) + "\n")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
