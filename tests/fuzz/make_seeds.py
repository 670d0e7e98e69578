#!/usr/bin/env python3
"""Writes the first inputs of the fuzz targets from files of the repository.

    tests/fuzz/make_seeds.py             (numpy, h5py)

The corpora hold these, what scripts/fuzz.sh found since, and inputs named after what they broke.
"""

import io
import json
import pathlib
import zipfile

import h5py
import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
DATA = ROOT / "tests/data"


def seed(target, name, content, choice=None):
    content = content.encode() if isinstance(content, str) else content
    if choice is not None:
        content = str(choice).encode() + content
    folder = HERE / "corpus" / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"seed_{name}").write_bytes(content)


def digit(choice, count):
    """The digit whose code leaves `choice` when divided by `count`."""
    return next(d for d in range(10) if (ord("0") + d) % count == choice)


def head(path, lines):
    return "\n".join(path.read_text(encoding="utf-8").splitlines()[:lines]) + "\n"


def manifests():
    items = (ROOT / "demo/items.jsonl").read_text().splitlines()
    seed("manifest", "items", "\n".join(items[:3] + items[-2:]), digit(0, 4))
    own = {"id": 7, "image": "a/b.png", "category": "fig", "condition": "color", "original_id": "x",
           "attribute": "deep purple", "choices": ["fig", "kiwi", "egg"], "answer": 2}
    seed("manifest", "choices", "\ufeff" + json.dumps(own) + "\r\n", digit(0, 4))
    seed("manifest", "list", json.dumps([own, {"id": "é\u2028", "image": "c.jpg"}]), digit(0, 4))
    seed("manifest", "outside", '{"id":"a","image":"../../etc/passwd"}\n', digit(0, 4))
    table = [["index", "image", "question", "A", "B", "C", "D", "answer", "category"],
             ["1", "aGVsbG8=", "What?", "fig", "kiwi", '"egg"', "lime", "B", "kiwi"],
             ["2", "1", 'W"h"at?', "fig", "kiwi", "", "", "A", "fig"]]
    seed("manifest", "tsv", "\n".join("\t".join(row) for row in table), digit(1, 4))
    seed("manifest", "csv", 'index,image_path,condition,original_id,attribute\r\n'
         '1,a/b.png,original,,\r\n2,"a/c,""d"".png",color,1,"deep\nred"\r\n', digit(2, 4))
    seed("manifest", "questions", head(ROOT / "demo/questions.jsonl", 4), digit(3, 4))


def responses():
    seed("responses", "sample", head(ROOT / "demo/sample_responses.jsonl", 4), digit(0, 5))
    log = {"doc": {"question_id": "q", "shift": 1, "type": "choice"}, "filtered_resps": [["B."]]}
    seed("responses", "harness_log", json.dumps(log), digit(0, 5))
    seed("responses", "odd_texts", '{"index":3,"prediction":null}\n{"index":4,"prediction":{"e":1}}\n'
         '{"index":5,"prediction":1.50,"made_up":true,"model":"m\u00fc"}', digit(0, 5))
    rows = [["model", "index", "type", "shift", "made_up", "prediction"],
            ["m", "1", "choice", "3", "true", '"B\n""b"""'], ["m", "2", "open", "", "", "A kiwi"]]
    seed("responses", "tsv", "\n".join("\t".join(row) for row in rows), digit(1, 5))
    seed("responses", "csv", "\r\n".join(",".join(row) for row in rows), digit(2, 5))
    seed("responses", "verdicts", '{"model":"m","question_id":"q","shift":2,"verdict":"none"}\n'
         '{"model":"m","question_id":"r","verdict":""}', digit(3, 5))
    seed("responses", "synonyms", "# words\ncouch, sofa,  settee\ncell phone,\tmobile # both\n",
         digit(4, 5))


def workbooks():
    seed("xlsx", "openpyxl", (DATA / "xlsx/openpyxl.xlsx").read_bytes(), digit(0, 2))
    archive = zipfile.ZipFile(DATA / "xlsx/xlsxwriter.xlsx")
    for name, parts in {
        "sheet": ["xl/worksheets/sheet1.xml", "xl/sharedStrings.xml"],
        "parts": ["xl/worksheets/sheet1.xml", "xl/sharedStrings.xml", "xl/workbook.xml",
                  "xl/_rels/workbook.xml.rels"],
    }.items():
        seed("xlsx", name, b"\0".join(archive.read(part) for part in parts), digit(1, 2))
    stored = io.BytesIO()
    with zipfile.ZipFile(stored, "w") as file:
        for part in ["xl/worksheets/sheet1.xml", "xl/workbook.xml", "xl/_rels/workbook.xml.rels"]:
            file.writestr(part, archive.read(part), zipfile.ZIP_STORED)
    seed("xlsx", "stored", stored.getvalue(), digit(0, 2))


def answers():
    rows = [json.loads(line) for line in (DATA / "mllm/labelled.jsonl").read_text().splitlines()]
    rows = [row for row in rows if len(row["response"]) < 700]
    for i, row in enumerate(rows[:: max(1, len(rows) // 24)]):
        text = "\n".join(row["choices"]) + "\n\n" + row["response"]
        seed("answers", f"labelled_{i:02}", text, digit(i % 2, 4))
    seed("answers", "open", "kiwi fruit\ncouch\negg\n\nIt's a sofa, not an egg.", digit(2, 4))
    for name, text in {"letter": "Answer: **B**.", "box": "Answer: [12, 20.5, 99, 81]",
                       "no": "No, I don't think so.", "color": "The answer: the red box"}.items():
        seed("answers", f"locate_{name}", text, digit(3, 4))


def tokenizers():
    texts = {
        "plain": "A photo of a Red-Fox, sitting_on the MAT.",
        "contractions": "We could\u2019ve seen it; he'll say 's 1.5% \u017f",
        "mojibake": "M\u00c3\u00bcnchen \u00e2\u20ac\u0153quoted\u00e2\u20ac\u009d \u00c2\u00a0",
        "html": "&lt;b&gt; &amp;eacute; &#x1F600; &#150; &NTILDE; &notit;",
        "widths": "\uff21\uff22\uff23 \ufb01 \uff76\uff9e \u1e9b\u0323",
        "marks": "<|startoftext|>cat<|endoftext|> \x1b[31mred\x1b[0m\u2028x\x85y\u0345",
        "scripts": "\u732b\u304c\u597d\u304d \u0639\u0631\u0628\u064a \U0001f468\u200d\U0001f469 \u0130I\u03a3",
    }
    for name, text in texts.items():
        for choice in range(5):
            if name in ("plain", "mojibake") or choice in (0, 4):
                seed("tokenizers", f"{name}_{choice}", text, digit(choice, 5))
    seed("tokenizers", "invalid_utf8", b"0caf\xc3 \xff\xfe\xed\xa0\x80 \xf4\x90\x80\x80")


def images():
    for path in sorted((DATA / "images").iterdir()):
        if path.suffix != ".py" and 0 < path.stat().st_size < 5000:
            seed("image", path.name, path.read_bytes())
    from PIL import Image

    picture = Image.fromarray(np.arange(11 * 7 * 3, dtype=np.uint8).reshape(7, 11, 3))
    for name, options in {
        "small.bmp": {}, "small.webp": {"lossless": True}, "lossy.webp": {"quality": 40},
        "progressive.jpg": {"progressive": True, "quality": 60}, "grey.jpg": {},
        "lzw.tif": {"compression": "tiff_lzw"}, "plain.tif": {}, "packbits.tif": {"compression": "packbits"},
        "jpeg.tif": {"compression": "jpeg"}, "deflate.tif": {"compression": "tiff_adobe_deflate"},
    }.items():
        out = io.BytesIO()
        kind = {"bmp": "BMP", "webp": "WEBP", "jpg": "JPEG", "tif": "TIFF"}[name.split(".")[1]]
        (picture.convert("L") if name == "grey.jpg" else picture).save(out, kind, **options)
        seed("image", name, out.getvalue())
    for name, mode in {"one_bit.tif": "1", "rgba.tif": "RGBA", "palette.bmp": "P"}.items():
        out = io.BytesIO()
        picture.convert(mode).save(out, "TIFF" if name.endswith("tif") else "BMP")
        seed("image", name, out.getvalue())


def bundles():
    for name in ("clip", "siglip", "llava-next"):
        seed("bundle", f"{name}.json", (DATA / f"bundles/{name}/encoder.json").read_bytes(), digit(1, 2))
    for name, path in {"hostile": DATA / "hostile/writes_file.pt", "prints": DATA / "hostile/prints.pt",
                       "clip": DATA / "bundles/clip/text.pt"}.items():
        archive = zipfile.ZipFile(path)
        codes = [n for n in archive.namelist() if "/code/" in n and n.endswith(".py")]
        for i, code in enumerate(sorted(codes, key=lambda n: archive.getinfo(n).file_size)[-2:]):
            seed("bundle", f"{name}_{i}.py", archive.read(code)[:6000], digit(0, 2))


def embedding_files():
    def write(name, dtype="<f4", **options):
        path = HERE / "corpus/embedding_file" / f"seed_{name}"
        path.parent.mkdir(parents=True, exist_ok=True)
        with h5py.File(path, "w", **options.pop("file", {})) as file:
            rows = np.arange(6, dtype=dtype).reshape(2, 3)
            file.create_dataset("image/embedding", data=rows, **options)
            file.create_dataset("image/mean_tokens", data=rows[:, :2], **options)
            if name != "small":
                file.create_dataset("image/tokens", data=rows.reshape(2, 3, 1), **options)
                file["text/embedding"] = rows[:1]
                file["text/prompt"] = np.array(["a fig"], dtype=object)
            for column in ("id", "path", "category", "condition", "original_id", "attribute",
                           "content_sha256"):
                file["items/" + column] = np.array([f"{column[:3]}{i}" for i in range(2)], dtype=object)
            attributes = dict.fromkeys(
                ("encoder", "architecture", "bundle_sha256", "preprocessing", "layer", "pooling",
                 "compute_dtype", "runtime", "command_line"), "x")
            attributes |= {"format": "probe-embeddings", "schema_version": "1", "complete": "true",
                           "dtype": "float32", "versions": '{"probe":"0.1.0"}'}
            for key, value in attributes.items():
                file.attrs[key] = value

    write("small")
    write("late", file={"libver": ("v110", "v110")})
    write("half", dtype="<f2")
    write("chunked", chunks=True, compression="gzip", shuffle=True, fletcher32=True)


def arrays():
    rows = np.linspace(-2, 2, 12).reshape(3, 4)
    for name, array in {"half": rows.astype("<f2"), "single": rows.astype("<f4"), "double": rows,
                        "fortran": np.asfortranarray(rows), "integers": rows.astype("<i4"),
                        "one_dimension": rows[0], "nan": rows * np.nan, "overflow": rows * 1e300,
                        "structures": np.zeros(2, [("a", "<f4")])}.items():
        for version in ((1, 0), (3, 0)):
            out = io.BytesIO()
            np.lib.format.write_array(out, array, version)
            seed("npy", f"{name}_{version[0]}", out.getvalue())


if __name__ == "__main__":
    for make in (manifests, responses, workbooks, answers, tokenizers, images, bundles,
                 embedding_files, arrays):
        make()
