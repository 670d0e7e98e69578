"""Where a model's files come from: a local folder or the Hugging Face hub."""

import re
import sys
from pathlib import Path

from probe_export.errors import ExportError

# Short names of the encoders that NEMO's paper uses (also `probe encoders pull NAME`).
KNOWN = {
    "clip": "openai/clip-vit-large-patch14-336",
    "siglip": "google/siglip-so400m-patch14-384",
    "clip-h": "laion/CLIP-ViT-H-14-laion2B-s32B-b79K",
    "eva": "open_clip:EVA01-g-14/laion400m_s11b_b41k",
}

WEIGHTS = (".safetensors", ".bin", ".pt")


def cost_line(repo: str, name: str, size: int, cache: str) -> str:
    gib = size / 2**30
    return (f"probe-export: {repo}: downloading {name}, {size / 1e9:.2f} GB, into {cache}; the export needs about "
            f"{2.2 * gib + 0.6:.1f} GiB of memory if these weights are float32, {4.4 * gib + 0.6:.1f} if half precision")


class LocalFolder:
    """Files of a folder. `revision` stays unknown."""

    revision = None

    def __init__(self, path: Path):
        self.path = path
        self.name = str(path)
        self.checkpoint = path.resolve().name

    def find(self, name: str) -> Path | None:
        path = self.path / name
        return path if path.is_file() else None

    def listing(self) -> list[str]:
        return sorted(p.name for p in self.path.iterdir() if p.is_file())

    def missing(self, name: str) -> ExportError:
        return ExportError(f"{self.path}: {name} is required and is not in this folder")


class HubRepo:
    """Files of a hub repository, fetched one by one into huggingface_hub's cache."""

    def __init__(self, repo: str, revision: str | None):
        self.repo = repo
        self.name = self.checkpoint = repo
        self.wanted_revision = revision
        self.revision = None
        self.unreachable = False
        from huggingface_hub.utils import logging

        logging.set_verbosity_error()  # its retries; what came of them is told here

    def find(self, name: str) -> Path | None:
        from huggingface_hub import hf_hub_download
        from huggingface_hub.errors import (
            EntryNotFoundError,
            HfHubHTTPError,
            LocalEntryNotFoundError,
        )

        try:
            self._say_cost(name)
            path = Path(hf_hub_download(self.repo, name, revision=self.wanted_revision))
        except LocalEntryNotFoundError as error:
            # Offline. A snapshot that holds config.json may simply lack an optional file;
            # what is required and absent is reported through missing().
            self.unreachable = True
            if name == "config.json" or not self._has_snapshot():
                raise self.offline(name) from error
            return None
        except EntryNotFoundError:
            return None
        except HfHubHTTPError as error:
            raise ExportError(f"{self.repo}: the Hugging Face hub refused: {_first_line(error)}") from error
        except OSError as error:
            raise self.offline(name) from error
        match = re.search(r"/snapshots/([0-9a-f]{40})/", path.as_posix())
        if match:
            self.revision = match[1]
        return path

    def _say_cost(self, name: str) -> None:
        """Before a large file is fetched: its size, and what an export of it needs."""
        from huggingface_hub import (
            constants,
            get_hf_file_metadata,
            hf_hub_url,
            try_to_load_from_cache,
        )

        if not name.endswith(WEIGHTS) or constants.HF_HUB_OFFLINE:
            return
        if isinstance(try_to_load_from_cache(self.repo, name, revision=self.wanted_revision), str):
            return
        try:
            size = get_hf_file_metadata(hf_hub_url(self.repo, name, revision=self.wanted_revision)).size or 0
        except Exception:  # absent or out of reach: hf_hub_download tells which
            return
        print(cost_line(self.repo, name, size, constants.HF_HUB_CACHE), file=sys.stderr, flush=True)

    def _has_snapshot(self) -> bool:
        from huggingface_hub import try_to_load_from_cache

        return isinstance(try_to_load_from_cache(self.repo, "config.json", revision=self.wanted_revision), str)

    def listing(self) -> list[str]:
        return []

    def offline(self, name: str) -> ExportError:
        return ExportError(
            f"{self.repo}: {name} is not in the Hugging Face cache and the hub cannot be reached; "
            f"on a machine with internet run `hf download {self.repo} --local-dir FOLDER`, "
            f"bring FOLDER here and pass its path as MODEL: `probe-export FOLDER -o BUNDLE`"
        )

    def missing(self, name: str) -> ExportError:
        if self.unreachable:
            return self.offline(name)
        return ExportError(f"{self.repo}: {name} is required and is not in this repository")


def resolve(model: str) -> LocalFolder | HubRepo:
    """MODEL without the open_clip: prefix."""
    path = Path(model).expanduser()
    if path.is_dir():
        return LocalFolder(path)
    if path.is_file():
        raise ExportError(
            f"{model}: a folder with config.json and weights is required, got a file "
            "(a lone open_clip checkpoint is given as open_clip:ARCHITECTURE/FILE)"
        )
    match = re.fullmatch(r"([\w.-]+/[\w.-]+)(?:@([\w./-]+))?", model)
    if not match or model.startswith((".", "/")):
        raise ExportError(
            f"{model}: neither a folder that exists, nor a hub id (owner/name[@revision]), "
            f"nor open_clip:ARCHITECTURE/TAG, nor one of {', '.join(KNOWN)}"
        )
    return HubRepo(match[1], match[2])


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
