"""The two towers of a bundle as modules of our own, and the trace of one of them.

State dict names (what the family files map a checkpoint's tensors to):
  image: patch.weight, patch.bias, prefix [1, 1, w], position [1, t, w], pre_norm.*,
         blocks.I.{norm1,attention.{qkv,q_norm,k_norm,norm,out},scale1,norm2,
         mlp.{up,gate,norm,down},scale2}, post_norm.*, projection.*,
         pool.{probe,q,kv,out,norm,mlp.{up,down}}.*
  text:  token.weight, position [1, c, w], blocks.I..., final_norm.*, projection.*
"""

import os
import warnings
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F

from probe_export.blocks import Block, BlockSpec, Mlp


@dataclass(frozen=True)
class Layer:
    """One token output. `block`: index of the block whose output it is."""

    name: str
    block: int
    post_norm: bool = False


@dataclass(frozen=True)
class ImageTowerSpec:
    size: int
    patch: int
    depth: int  # blocks that are built
    block: BlockSpec
    head: str  # none, linear (projection of the normed class token), cls, map
    layers: tuple[Layer, ...]
    embedding: int = 0
    prefix: bool = True  # class token
    patch_bias: bool = False
    pre_norm: bool = False
    post_norm: bool = True
    projection_bias: bool = False

    @property
    def tokens(self) -> int:
        return (self.size // self.patch) ** 2 + int(self.prefix)


@dataclass(frozen=True)
class TextTowerSpec:
    vocabulary: int
    context: int
    depth: int
    block: BlockSpec
    embedding: int
    pool: str  # first_end, largest (position of the largest id), last
    end_id: int
    projection_bias: bool = False


class AttentionPool(nn.Module):
    """SigLIP's pooling: one learned query attends to all tokens, then an MLP."""

    def __init__(self, spec: BlockSpec):
        super().__init__()
        self.split = (spec.heads, spec.width // spec.heads)
        self.probe = nn.Parameter(torch.zeros(1, 1, spec.width))
        self.q = nn.Linear(spec.width, spec.width)
        self.kv = nn.Linear(spec.width, 2 * spec.width)
        self.out = nn.Linear(spec.width, spec.width)
        self.norm = nn.LayerNorm(spec.width, eps=spec.eps)
        self.mlp = Mlp(spec)

    def forward(self, x):
        q = self.q(self.probe).expand(x.size(0), -1, -1)
        k, v = self.kv(x).chunk(2, -1)
        q, k, v = (y.unflatten(-1, self.split).transpose(1, 2) for y in (q, k, v))
        x = self.out(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))
        x = x + self.mlp(self.norm(x))
        return x[:, 0]


class ImageTower(nn.Module):
    def __init__(self, spec: ImageTowerSpec):
        super().__init__()
        width = spec.block.width
        self.spec = spec
        self.patch = nn.Conv2d(3, width, spec.patch, stride=spec.patch, bias=spec.patch_bias)
        if spec.prefix:
            self.prefix = nn.Parameter(torch.zeros(1, 1, width))
        self.position = nn.Parameter(torch.zeros(1, spec.tokens, width))
        if spec.pre_norm:
            self.pre_norm = nn.LayerNorm(width, eps=spec.block.eps)
        self.blocks = nn.ModuleList(Block(spec.block) for _ in range(spec.depth))
        if spec.post_norm:
            self.post_norm = nn.LayerNorm(width, eps=spec.block.eps)
        if spec.head == "linear":
            self.projection = nn.Linear(width, spec.embedding, bias=spec.projection_bias)
        elif spec.head == "map":
            self.pool = AttentionPool(spec.block)

    def forward(self, pixels):
        spec = self.spec
        x = self.patch(pixels).flatten(2).transpose(1, 2)
        if spec.prefix:
            x = torch.cat([self.prefix.expand(x.size(0), -1, -1), x], 1)
        x = x + self.position
        if spec.pre_norm:
            x = self.pre_norm(x)
        outputs = []
        for block in self.blocks:
            x = block(x)
            outputs.append(x)

        normed = None
        if spec.head == "map" or any(layer.post_norm for layer in spec.layers):
            normed = self.post_norm(x)
        if spec.head == "none":
            embedding = x[:, 0, :0]
        elif spec.head == "map":
            embedding = self.pool(normed)
        else:
            embedding = normed[:, 0] if normed is not None else self.post_norm(x[:, 0])
            if spec.head == "linear":
                embedding = self.projection(embedding)
        tokens = [normed if layer.post_norm else outputs[layer.block] for layer in spec.layers]
        return (embedding, *tokens)


class TextTower(nn.Module):
    def __init__(self, spec: TextTowerSpec):
        super().__init__()
        width = spec.block.width
        self.spec = spec
        self.token = nn.Embedding(spec.vocabulary, width)
        self.position = nn.Parameter(torch.zeros(1, spec.context, width))
        self.blocks = nn.ModuleList(Block(spec.block) for _ in range(spec.depth))
        self.final_norm = nn.LayerNorm(width, eps=spec.block.eps)
        self.projection = nn.Linear(width, spec.embedding, bias=spec.projection_bias)

    def forward(self, ids):
        spec = self.spec
        x = self.token(ids) + self.position
        for block in self.blocks:
            x = block(x)
        # The norm acts on each token alone, so it is applied to the pooled one only.
        if spec.pool == "last":
            x = x[:, -1]
        else:
            place = ids.eq(spec.end_id).int().argmax(1) if spec.pool == "first_end" else ids.argmax(1)
            x = x.gather(1, place[:, None, None].expand(-1, 1, spec.block.width)).squeeze(1)
        return self.projection(self.final_norm(x))


def empty_tower(spec: ImageTowerSpec | TextTowerSpec) -> nn.Module:
    """Shapes without data."""
    with torch.device("meta"):
        return ImageTower(spec) if isinstance(spec, ImageTowerSpec) else TextTower(spec)


def build_tower(spec: ImageTowerSpec | TextTowerSpec, weights: dict) -> nn.Module:
    """A tower in eval mode that owns `weights` (float32 tensors, no copy is made)."""
    tower = empty_tower(spec)
    for name, buffer in list(tower.named_buffers()):  # the rotary tables are computed
        module = tower.get_submodule(name.rpartition(".")[0])
        cos, sin = _tables(spec.block, module.head_width)
        module.register_buffer(name.rpartition(".")[2], cos if name.endswith("cos") else sin)
        weights.setdefault(name, getattr(module, name.rpartition(".")[2]))
    tower.load_state_dict(weights, strict=True, assign=True)
    return tower.eval().requires_grad_(False)


def _tables(block: BlockSpec, head_width: int):
    from probe_export.blocks import rotary_tables

    return rotary_tables(block.rotary_grid, block.rotary_reference, head_width)


def example_input(spec: ImageTowerSpec | TextTowerSpec, batch: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(batch)
    if isinstance(spec, ImageTowerSpec):
        return torch.randn(batch, 3, spec.size, spec.size, generator=generator)
    top = spec.end_id + 1 if spec.pool == "largest" else spec.vocabulary
    ids = torch.randint(0, top, (batch, spec.context), generator=generator)
    ids[:, spec.context // 2] = spec.end_id
    return ids


@torch.no_grad()
def trace_tower(tower: ImageTower | TextTower) -> torch.jit.ScriptModule:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch.jit's own notice of deprecation
        return torch.jit.trace(tower, example_input(tower.spec, 2), check_trace=False)


def save_tower(traced: torch.jit.ScriptModule, path: str) -> None:
    """Saves without source maps and example inputs: the first hold paths of this machine,
    neither is needed to run. Tensors stay aligned, as PyTorch's own writer is used."""
    whole = path + ".part"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.jit.save(traced, whole)
    reader = torch._C.PyTorchFileReader(whole)
    writer = torch._C.PyTorchFileWriter(path)
    # The version decides by which operator signatures the code is read: it must survive.
    version = ".data/version" if reader.has_record(".data/version") else "version"
    writer.set_min_version(int(reader.get_record(version)))
    for name in reader.get_all_records():
        bookkeeping = name.startswith(".data/") or name == "version"  # the writer makes its own
        if not bookkeeping and not name.endswith(".debug_pkl") and not name.startswith("traced_inputs"):
            record = reader.get_record(name)
            writer.write_record(name, record, len(record))
    writer.write_end_of_file()
    os.remove(whole)


def load_tower(path: str) -> torch.jit.ScriptModule:
    """As probe does: on the CPU, weights raised to float32."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.jit.load(path, map_location="cpu").float().eval()
