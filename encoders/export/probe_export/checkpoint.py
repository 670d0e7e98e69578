"""Tensors of a checkpoint, read one at a time; shards that hold none are never opened."""

import hashlib
import json
import re
from pathlib import Path

import torch

from probe_export.errors import ExportError


def read_json(path: Path) -> dict:
    try:
        value = json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError) as error:
        raise ExportError(f"{path}: JSON is required, {error}") from error
    if not isinstance(value, dict):
        raise ExportError(f"{path}: a JSON object is required, got {type(value).__name__}")
    return value


def sha256_of(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def load_pickle(path: Path) -> dict:
    """A pickled state dict; nothing but tensors is ever unpickled."""
    try:
        state = torch.load(path, map_location="cpu", weights_only=True, mmap=True)
    except Exception as error:
        try:
            state = torch.load(path, map_location="cpu", weights_only=True)
        except Exception:
            raise ExportError(
                f"{path}: only tensors are read from pickled checkpoints (weights_only), and this file holds "
                f"something else or is damaged; convert it to safetensors where it comes from "
                f"({(str(error).strip().splitlines() or ['?'])[0][:120]})"
            ) from error
    if isinstance(state, dict) and isinstance(state.get("state_dict"), dict):
        state = state["state_dict"]
    if not isinstance(state, dict) or not all(isinstance(v, torch.Tensor) for v in state.values()):
        raise ExportError(f"{path}: a state dict of tensors is required")
    if state and all(name.startswith("module.") for name in state):
        state = {name[len("module."):]: tensor for name, tensor in state.items()}
    return state


class Checkpoint:
    """All tensors of a source by name. Knows which files it read (`files`)."""

    def __init__(self, source):
        self.source = source
        self.where: dict[str, str] = {}  # tensor -> file name
        self.opened: dict[str, object] = {}
        self.files: list[Path] = []
        self.headers_only = False  # tensor() gives shapes without data
        for index in ("model.safetensors.index.json", "pytorch_model.bin.index.json"):
            single = index[: -len(".index.json")]
            path = source.find(single)
            if path is not None:
                self.where = dict.fromkeys(self._open(single, path).keys(), single)
                return
            path = source.find(index)
            if path is not None:
                self.where = dict(read_json(path).get("weight_map", {}))
                if not self.where:
                    raise ExportError(f"{path}: weight_map is required and is missing or empty")
                return
        raise source.missing("model.safetensors (or an index, or pytorch_model.bin)")

    def _open(self, name: str, path: Path | None = None):
        if name in self.opened:
            return self.opened[name]
        if not re.fullmatch(r"[\w.-]+", name):
            raise ExportError(f"{self.source.name}: the index names a file outside the folder: {name!r}")
        path = path or self.source.find(name)
        if path is None:
            raise self.source.missing(name)
        if path.stat().st_size < 1024 and path.read_bytes().startswith(b"version https://git-lfs"):
            raise ExportError(f"{path}: this is a Git LFS pointer, not the weights; run `git lfs pull` in its folder")
        if name.endswith(".safetensors"):
            from safetensors import SafetensorError, safe_open

            try:
                opened = safe_open(path, framework="pt")
            except (SafetensorError, OSError) as error:
                raise ExportError(f"{path}: not a safetensors file ({error})") from error
        else:
            opened = load_pickle(path)
        self.opened[name] = opened
        self.files.append(path)
        return opened

    def names(self) -> list[str]:
        return list(self.where)

    def shape(self, name: str) -> tuple[int, ...]:
        file = self._open(self.where[name])
        if name not in file.keys():
            raise ExportError(f"{self.source.name}: tensor {name} is named by the index but not in its file")
        return tuple(file[name].shape) if isinstance(file, dict) else tuple(file.get_slice(name).get_shape())

    def tensor(self, name: str) -> torch.Tensor:
        """A float32 copy (integers stay as they are)."""
        if self.headers_only:
            return torch.empty(self.shape(name), device="meta")
        file = self._open(self.where[name])
        tensor = file[name] if isinstance(file, dict) else file.get_tensor(name)
        return tensor.float() if tensor.is_floating_point() else tensor

    def weights_sha256(self) -> str | None:
        """Of the one file that was read; None if there were several."""
        return sha256_of(self.files[0]) if len(self.files) == 1 else None

    def close(self) -> None:
        self.opened.clear()


class Part:
    """The tensors below one prefix; every one must be used exactly once."""

    def __init__(self, checkpoint: Checkpoint, prefix: str, ignore: str = r"(?!)"):
        self.checkpoint = checkpoint
        self.prefix = prefix
        self.ignore = re.compile(ignore)
        self.left = {n[len(prefix):] for n in checkpoint.names() if n.startswith(prefix)}

    def __contains__(self, name: str) -> bool:
        return name in self.left

    def shape(self, name: str) -> tuple[int, ...]:
        self._require(name)
        return self.checkpoint.shape(self.prefix + name)

    def _require(self, name: str) -> None:
        if self.prefix + name not in self.checkpoint.where:
            raise ExportError(f"{self.checkpoint.source.name}: tensor {self.prefix + name} is required and missing")

    def __call__(self, name: str) -> torch.Tensor:
        self._require(name)
        self.left.discard(name)
        return self.checkpoint.tensor(self.prefix + name)

    def parameters(self) -> int:
        total = 0
        for name in sorted(self.left):
            count = 1
            for side in self.checkpoint.shape(self.prefix + name):
                count *= side
            total += count
        return total

    def finish(self) -> None:
        unknown = sorted(n for n in self.left if not self.ignore.fullmatch(n))
        if unknown:
            raise ExportError(
                f"{self.checkpoint.source.name}: this tower has tensors that the exporter does not know "
                f"({self.prefix}{unknown[0]}{f' and {len(unknown) - 1} more' if len(unknown) > 1 else ''}); "
                "it is refused rather than exported wrongly"
            )
