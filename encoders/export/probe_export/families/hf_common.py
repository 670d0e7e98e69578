"""Shared by the families whose reference is Hugging Face transformers."""

import re

import numpy as np
import torch

from probe_export.blocks import BlockSpec
from probe_export.checkpoint import Part, read_json
from probe_export.errors import ExportError
from probe_export.picture import preprocess

CLIP_MEAN = (0.48145466, 0.4578275, 0.40821073)
CLIP_STD = (0.26862954, 0.26130258, 0.27577711)
IMAGENET_MEAN = (0.485, 0.456, 0.406)
IMAGENET_STD = (0.229, 0.224, 0.225)


def quiet_transformers():
    import transformers

    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    return transformers


def make_config(kind, values: dict, where: str):
    """A transformers config with its defaults filled in."""
    try:
        return kind.from_dict(values)
    except Exception as error:
        reason = (str(error).strip().splitlines() or ["?"])[0]
        raise ExportError(f"{where}: config.json is not a valid {kind.__name__}: {reason}") from error


def square(value, where: str, field: str) -> int:
    sides = list(value) if isinstance(value, (list, tuple)) else [value, value]
    if len(sides) != 2 or sides[0] != sides[1] or not isinstance(sides[0], int) or sides[0] < 1:
        raise ExportError(f"{where}: a square {field} is required, got {value!r}")
    return sides[0]


def require(condition: bool, where: str, what: str, got) -> None:
    if not condition:
        raise ExportError(f"{where}: {what} is required, got {got!r}")


def read_processor(source) -> dict:
    """preprocessor_config.json, or the image part of processor_config.json."""
    path = source.find("preprocessor_config.json")
    if path is not None:
        return read_json(path)
    path = source.find("processor_config.json")
    values = read_json(path).get("image_processor") if path is not None else None
    if not isinstance(values, dict):
        raise source.missing("preprocessor_config.json")
    return values


def _edge(value, where: str, field: str):
    """('shortest', n) or ('square', n)."""
    if isinstance(value, int):
        return "shortest", value
    if isinstance(value, dict) and set(value) == {"shortest_edge"}:
        return "shortest", value["shortest_edge"]
    if isinstance(value, dict) and set(value) == {"height", "width"} and value["height"] == value["width"]:
        return "square", value["height"]
    raise ExportError(f"{where}: {field} with shortest_edge or equal height and width is required, got {value!r}")


def preprocess_from_processor(source, values: dict, processor_class, tower_size: int | None) -> dict:
    """BUNDLE.md's rule for a Hugging Face image processor of this class (its defaults
    fill what the file leaves out). tower_size None: the processor decides."""
    where = f"{source.name}: preprocessor_config.json"
    defaults = processor_class().to_dict()
    known = set(defaults) | {"feature_extractor_type", "image_processor_type", "processor_class", "do_convert_rgb",
                             "_valid_processor_keys", "return_tensors", "data_format", "input_data_format", "device",
                             "disable_grouping", "default_to_square", "do_pad", "pad_size", "image_seq_length"}
    unknown = sorted(k for k in set(values) - known if values[k] is not None)
    require(not unknown, where, "no other setting", unknown)
    require(not values.get("do_pad"), where, "do_pad false", values.get("do_pad"))
    merged = {**defaults, **{k: v for k, v in values.items() if v is not None}}
    for switch in ("do_resize", "do_normalize", "do_rescale"):
        require(merged.get(switch, True) is True, where, f"{switch} true", merged.get(switch))
    require(abs(merged.get("rescale_factor", 1 / 255) - 1 / 255) < 1e-9, where, "rescale_factor 1/255",
            merged.get("rescale_factor"))
    kernel = {2: "bilinear", 3: "bicubic"}.get(int(merged["resample"]))
    require(kernel is not None, where, "resample 2 (bilinear) or 3 (bicubic)", merged["resample"])
    kind, to = _edge(merged["size"], where, "size")
    crop = bool(merged.get("do_center_crop", False))
    size = to
    if crop:
        crop_size = merged["crop_size"]
        size = crop_size if isinstance(crop_size, int) else _edge(crop_size, where, "crop_size")[1]
    if crop and kind == "square" and size == to:
        crop = False  # a crop of everything
    require(kind == "square" or crop, where, "do_center_crop with shortest_edge", crop)
    require(size <= to, where, f"a crop of at most {to}", size)
    if tower_size is not None:
        require(size == tower_size, where, f"the tower's size {tower_size}", size)
    return preprocess(size, "squash" if kind == "square" else "shortest", to, kernel,
                      "center" if crop else "none", "floor", merged["image_mean"], merged["image_std"])


def processor_pixels(processor_class, values: dict):
    """The reference pipeline up to uint8: the class's own code with Pillow."""
    quiet_transformers()
    keep = {k: v for k, v in values.items() if k in processor_class().to_dict() and v is not None
            and not k.endswith("_type")}
    processor = processor_class(**keep)

    def pixels(image):
        out = processor(image, do_rescale=False, do_normalize=False, return_tensors="np")["pixel_values"][0]
        return np.asarray(out).round().astype(np.uint8).transpose(1, 2, 0)

    return pixels


def read_licence(source) -> tuple[str | None, dict[str, bytes]]:
    """The licence that the model card states, and licence texts beside the weights."""
    stated, texts = None, {}
    card = source.find("README.md")
    if card is not None:
        head = re.match(r"---\n(.*?)\n---", card.read_text(encoding="utf-8", errors="replace"), re.S)
        match = re.search(r"^license:\s*([^\s#]+)", head[1], re.M) if head else None
        name = re.search(r"^license_name:\s*([^\s#]+)", head[1], re.M) if head else None
        stated = (name or match)[1].strip("'\"") if match else None
    for name in ("LICENSE", "LICENSE.txt", "LICENSE.md"):
        path = source.find(name)
        if path is not None:
            texts[name] = path.read_bytes()
    return stated, texts


def block_weights(take: Part, theirs: str, ours: str) -> dict:
    """One block of CLIP or SigLIP."""
    w = {}
    for kind in ("weight", "bias"):
        w[f"{ours}.attention.qkv.{kind}"] = torch.cat(
            [take(f"{theirs}.self_attn.{x}_proj.{kind}") for x in ("q", "k", "v")]
        )
        w[f"{ours}.attention.out.{kind}"] = take(f"{theirs}.self_attn.out_proj.{kind}")
        w[f"{ours}.norm1.{kind}"] = take(f"{theirs}.layer_norm1.{kind}")
        w[f"{ours}.norm2.{kind}"] = take(f"{theirs}.layer_norm2.{kind}")
        w[f"{ours}.mlp.up.{kind}"] = take(f"{theirs}.mlp.fc1.{kind}")
        w[f"{ours}.mlp.down.{kind}"] = take(f"{theirs}.mlp.fc2.{kind}")
    return w


def block_spec(config, where: str, causal: bool = False) -> BlockSpec:
    """Of a CLIP or SigLIP tower config."""
    from probe_export.plan import activation

    require(config.hidden_size % config.num_attention_heads == 0, where, "hidden_size divisible by the heads",
            config.hidden_size)
    return BlockSpec(config.hidden_size, config.num_attention_heads, config.intermediate_size,
                     config.layer_norm_eps, activation(config.hidden_act, where), causal=causal)


class HookedBlocks:
    """Runs a reference model and keeps what each of its blocks gave."""

    def __init__(self, blocks):
        self.outputs: list[torch.Tensor] = []
        for block in blocks:
            block.register_forward_hook(self._keep)

    def _keep(self, module, inputs, output):
        self.outputs.append(output[0] if isinstance(output, tuple) else output)

    def run(self, call):
        self.outputs = []
        with torch.no_grad():
            return call(), self.outputs
