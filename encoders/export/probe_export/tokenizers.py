"""Tokenizer files of a bundle, and the reference tokenizers that make the golden ids."""

import gzip
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

from probe_export.checkpoint import read_json
from probe_export.errors import ExportError

CLIP_MERGES = 49152 - 256 - 2  # openai/CLIP's simple_tokenizer.py: 48,894
GOLDEN_TEXTS = ("a photo of a red fox", "two green apples", "banana")


@dataclass
class Tokenizer:
    spec: dict  # text.tokenizer of encoder.json
    content: bytes  # of spec["file"]
    ids: Callable[[list[str]], list[list[int]]]  # reference, padded to the context


def clip_spec(pad_id: int, start_id: int = 49406, end_id: int = 49407) -> dict:
    """CLIP was trained on text cleaned with ftfy (openai/CLIP's simple_tokenizer.py), so
    every CLIP bundle says so, also those from Hugging Face, whose tokenizer skips it."""
    return {
        "type": "clip_bpe",
        "file": "merges.txt.gz",
        "lowercase": True,
        "clean": "ftfy",
        "canonicalize": "none",
        "start_id": start_id,
        "end_id": end_id,
        "pad_id": pad_id,
    }


def pack_merges(merges: list[str]) -> bytes:
    """Hugging Face's layout, gzipped without time or name: equal merges, equal bytes."""
    text = "\n".join(["#version: 0.2", *merges]) + "\n"
    return gzip.compress(text.encode(), compresslevel=9, mtime=0)


def byte_symbols() -> list[str]:
    """The 256 printable stand-ins for bytes, in the order of their ids (GPT-2, CLIP)."""
    printable = [*range(ord("!"), ord("~") + 1), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    hidden = [b for b in range(256) if b not in printable]
    return [chr(b) for b in printable] + [chr(256 + i) for i in range(len(hidden))]


def clip_vocabulary(merges: list[str]) -> dict[str, int]:
    """Ids follow from the merges alone: bytes, bytes that end a word, merges, two marks."""
    symbols = byte_symbols()
    entries = symbols + [s + "</w>" for s in symbols] + [m.replace(" ", "") for m in merges]
    entries += ["<|startoftext|>", "<|endoftext|>"]
    return {entry: i for i, entry in enumerate(entries)}


def check_merges(where: str, merges: list[str], vocabulary: dict | None, size: int) -> None:
    if len(merges) != CLIP_MERGES or any(m.count(" ") != 1 for m in merges):
        raise ExportError(f"{where}: {CLIP_MERGES} merges of two parts are required, got {len(merges)}")
    if vocabulary is not None and clip_vocabulary(merges) != {k: v for k, v in vocabulary.items() if v < 49408}:
        raise ExportError(f"{where}: the vocabulary does not follow from the merges in CLIP's order")
    if size != 49408:
        raise ExportError(f"{where}: a token embedding of 49408 rows is required for CLIP's tokenizer, got {size}")


def read_hf_clip(source, context: int, vocabulary_size: int) -> Tokenizer:
    """From merges.txt (+ vocab.json) or tokenizer.json of a Hugging Face folder."""
    merges_file, vocabulary_file = source.find("merges.txt"), source.find("vocab.json")
    if merges_file is not None:
        lines = merges_file.read_text(encoding="utf-8").splitlines()
        merges = [line for line in lines if line and not line.startswith("#version")]
        vocabulary = read_json(vocabulary_file) if vocabulary_file is not None else None
        where = str(merges_file)
    else:
        path = source.find("tokenizer.json")
        if path is None:
            raise source.missing("merges.txt or tokenizer.json")
        model = read_json(path).get("model", {})
        merges = [m if isinstance(m, str) else " ".join(m) for m in model.get("merges", [])]
        vocabulary, where = model.get("vocab"), str(path)
    check_merges(where, merges, vocabulary, vocabulary_size)

    from transformers import CLIPTokenizer

    pad = (read_optional(source, "tokenizer_config.json") or {}).get("pad_token", "<|endoftext|>")
    pad = pad.get("content") if isinstance(pad, dict) else pad
    reference = CLIPTokenizer(vocab=clip_vocabulary(merges), merges=[tuple(m.split(" ")) for m in merges],
                              pad_token=pad)
    pad_id = reference.pad_token_id
    if not isinstance(pad_id, int) or not 0 <= pad_id < vocabulary_size:
        raise ExportError(f"{source.name}: tokenizer_config.json: a pad_token of the vocabulary is required, got {pad!r}")

    def ids(texts):
        return reference(texts, padding="max_length", truncation=True, max_length=context)["input_ids"]

    return Tokenizer(clip_spec(pad_id), pack_merges(merges), ids)


def read_optional(source, name: str) -> dict | None:
    path = source.find(name)
    return read_json(path) if path is not None else None


def _token(value, default: str) -> str:
    return value.get("content", default) if isinstance(value, dict) else (value or default)


def read_siglip(source, context: int, vocabulary_size: int) -> Tokenizer:
    """SigLIP: spiece.model, canonical text. The reference is Hugging Face's tokenizer."""
    path = source.find("spiece.model")
    if path is None:
        raise source.missing("spiece.model")
    from transformers import SiglipTokenizer

    config = read_optional(source, "tokenizer_config.json") or {}
    marks = {k: _token(config.get(k), "</s>") for k in ("eos_token", "pad_token")}
    marks["unk_token"] = _token(config.get("unk_token"), "<unk>")
    lower = config.get("do_lower_case", True)
    reference = _open_pieces(path, lambda: SiglipTokenizer(str(path), do_lower_case=lower, **marks))
    _check_pieces(path, reference.sp_model.get_piece_size(), vocabulary_size)

    def ids(texts):
        return reference(texts, padding="max_length", truncation=True, max_length=context)["input_ids"]

    spec = {
        "type": "sentencepiece",
        "file": "spiece.model",
        "lowercase": bool(lower),
        "clean": "none",
        "canonicalize": "siglip",
        "start_id": -1,
        "end_id": reference.eos_token_id,
        "pad_id": reference.pad_token_id,
    }
    return Tokenizer(spec, path.read_bytes(), ids)


def read_siglip2(source, context: int, vocabulary_size: int) -> Tokenizer:
    """SigLIP 2: Gemma's tokenizer.model on lower-cased text, punctuation kept (big_vision's
    pp op "lower"; transformers' Siglip2Tokenizer). The reference is SentencePiece itself,
    as in big_vision; a tokenizer.json beside it must give the same ids."""
    path = source.find("tokenizer.model")
    if path is None:
        raise source.missing("tokenizer.model (Gemma's SentencePiece model; tokenizer.json alone does not do)")
    import sentencepiece

    pieces = _open_pieces(path, lambda: sentencepiece.SentencePieceProcessor(model_file=str(path)))
    _check_pieces(path, pieces.get_piece_size(), vocabulary_size)
    end_id, pad_id = pieces.eos_id(), pieces.pad_id()
    if end_id < 0 or pad_id < 0:
        raise ExportError(f"{path}: end and pad pieces are required, got ids {end_id} and {pad_id}")

    def ids(texts):
        rows = []
        for text in texts:
            row = pieces.encode(text.lower())[: context - 1] + [end_id]
            rows.append(row + [pad_id] * (context - len(row)))
        return rows

    fast = source.find("tokenizer.json")
    if fast is not None:
        from tokenizers import Tokenizer as FastTokenizer

        other = FastTokenizer.from_file(str(fast))
        for text in GOLDEN_TEXTS:
            if other.encode(text, add_special_tokens=False).ids != pieces.encode(text):
                raise ExportError(f"{source.name}: tokenizer.json and tokenizer.model give different ids for {text!r}")
    spec = {
        "type": "sentencepiece",
        "file": "spiece.model",
        "lowercase": True,
        "clean": "none",
        "canonicalize": "none",
        "start_id": -1,
        "end_id": end_id,
        "pad_id": pad_id,
    }
    return Tokenizer(spec, path.read_bytes(), ids)


def _open_pieces(path: Path, opener):
    try:
        return opener()
    except Exception as error:
        reason = (str(error).strip().splitlines() or ["?"])[0]
        raise ExportError(f"{path}: a SentencePiece model is required ({reason})") from error


def _check_pieces(path: Path, pieces: int, vocabulary_size: int) -> None:
    if pieces > vocabulary_size:
        raise ExportError(f"{path}: at most {vocabulary_size} pieces fit the token embedding, got {pieces}")
