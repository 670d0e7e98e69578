"""Writes the golden token ids of tests/encoders/golden.

    python make_ids.py ../data/clip_bpe/merges.txt.gz ../data/sentencepiece/test_model.model \\
        ../encoders/golden

clip_ids.json: openai/CLIP's simple_tokenizer with ftfy. clean_texts.json: its text before
the split. siglip_ids.json: sentencepiece after open_clip's canonical form. Each has the
awkward texts of text_corpus.py and some of every random kind.
"""

import json
import pathlib
import sys

from compare_ids import canonical, load_openai_tokenizer
from text_corpus import corpus


def chosen():
    taken = {}
    texts = []
    limits = {"awkward": 1000, "random unicode": 60, "mixed-up encodings": 150,
              "html references": 80, "long texts": 3}
    for kind, text in corpus([]):
        if taken.setdefault(kind, 0) < limits.get(kind, 0):
            taken[kind] += 1
            texts.append(text)
    return texts


def write(path, made_by, rows):
    lines = ",\n".join(json.dumps(row, ensure_ascii=True) for row in rows)
    path.write_text(f'{{"made_by": {json.dumps(made_by)}, "rows": [\n{lines}\n]}}\n')


def main():
    import ftfy
    import sentencepiece

    merges, model, folder = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    module = load_openai_tokenizer()
    tokenizer = module.SimpleTokenizer(merges)
    processor = sentencepiece.SentencePieceProcessor(model_file=model)
    texts = chosen()
    made_by = f"make_ids.py, openai-clip's simple_tokenizer, ftfy {ftfy.__version__}"
    write(folder / "clip_ids.json", made_by, [[text, tokenizer.encode(text)] for text in texts])
    write(folder / "clean_texts.json", made_by,
          [[text, module.whitespace_clean(module.basic_clean(text))] for text in texts])
    write(folder / "siglip_ids.json",
          f"make_ids.py, sentencepiece {sentencepiece.__version__}, open_clip's canonical form",
          [[text, canonical(text), processor.encode(canonical(text))]
           for text in texts if "\0" not in text])


if __name__ == "__main__":
    main()
