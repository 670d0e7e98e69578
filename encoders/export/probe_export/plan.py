"""What a family file hands to the bundle writer."""

from dataclasses import dataclass, field
from typing import Callable, Protocol

import numpy as np
import torch
from PIL import Image

from probe_export.checkpoint import Checkpoint
from probe_export.errors import ExportError
from probe_export.tokenizers import Tokenizer
from probe_export.towers import ImageTowerSpec, Layer, TextTowerSpec


class Reference(Protocol):
    """The reference library's own model and processor."""

    def pixels(self, image: Image.Image) -> np.ndarray:
        """uint8 [s, s, 3], before normalisation."""

    def encode_image(self, pixels: torch.Tensor) -> tuple[torch.Tensor, list[torch.Tensor]]:
        """float [n, 3, s, s] -> embedding [n, d] and tokens [n, t, w] per layer."""

    def encode_text(self, ids: torch.Tensor) -> torch.Tensor:
        """[n, c] -> [n, d]"""


@dataclass
class Plan:
    family: str
    architecture: str
    checkpoint: str
    revision: str | None
    preprocess: dict  # see picture.preprocess
    image_spec: ImageTowerSpec
    image_weights: Callable[[], dict]
    match_layer: str
    reference: Callable[[], Reference]
    parameters: int  # of the towers that are exported
    weights_sha256: Callable[[], str | None]
    tensors: Checkpoint | None = None  # what image_weights and text_weights read; None: open_clip's
    text_spec: TextTowerSpec | None = None
    text_weights: Callable[[], dict] | None = None
    tokenizer: Tokenizer | None = None
    scale_log: float | None = None
    bias: float | None = None
    probability: str = "softmax"
    licence: str | None = None
    licence_files: dict[str, bytes] = field(default_factory=dict)


def activation(name: str, where: str) -> str:
    names = {"quick_gelu": "quick_gelu", "gelu": "gelu", "gelu_pytorch_tanh": "gelu_tanh"}
    if name not in names:
        raise ExportError(f"{where}: hidden_act of {', '.join(names)} is required, got {name!r}")
    return names[name]


def choose_layers(wanted: list[str] | None, default: list[str], depth: int, has_norm: bool,
                  last_is_normed: bool) -> tuple[Layer, ...]:
    """Layers of `--layers`. -1 is the last block's output, -2 the one before, `post` the
    last one after the final norm. `last` is -1, except for SigLIP, where it is what
    Hugging Face calls last_hidden_state: after the norm (DESIGN.md, ruling 4)."""
    layers: list[Layer] = []
    for name in wanted or default:
        name = name.strip()
        if name == "last":
            layer = Layer("last", depth - 1, post_norm=last_is_normed)
        elif name == "post":
            if not has_norm:
                raise ExportError("--layers post: this tower has no final norm")
            layer = Layer("last" if last_is_normed else "post", depth - 1, post_norm=True)
        else:
            try:
                back = int(name)
            except ValueError:
                back = 0
            if not -depth <= back <= -1:
                raise ExportError(f"--layers {name}: last, post or a number from -1 to -{depth} is required")
            layer = Layer("last" if back == -1 and not last_is_normed else str(back), depth + back)
        if layer.name not in [other.name for other in layers]:
            layers.append(layer)
    return tuple(layers)


def size_letter(width: int, depth: int) -> str:
    letters = {(192, 12): "Ti", (384, 12): "S", (768, 12): "B", (1024, 24): "L", (1280, 32): "H",
               (1408, 40): "g", (1664, 48): "bigG", (1152, 27): "SO400M",
               (1792, 64): "E", (1536, 40): "g"}
    return letters.get((width, depth), f"{depth}x{width}")


def match_layer_of(layers, default: str) -> str:
    names = [layer.name for layer in layers]
    return default if default in names else names[0]
