"""Transformer blocks that trace cleanly.

Everything here is written so that a trace holds no device, no dtype and no batch size:
heads are split with `unflatten` (constant head sizes only), the class token is expanded
by the traced batch size, causal attention uses `is_causal` and no mask tensor, and there
is no cast anywhere. q, k and v come from one linear, so that an optimiser finds one
large product instead of three.
"""

from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F


@dataclass(frozen=True)
class BlockSpec:
    width: int
    heads: int
    hidden: int  # width of the MLP's inner layer
    eps: float
    activation: str  # gelu, gelu_tanh, quick_gelu; silu only with gated
    norm: str = "layer"  # or rms
    qkv_bias: bool = True
    qk_norm: bool = False  # RMS norm of q and k over the full width (InternViT-6B)
    attention_norm: bool = False  # layer norm before the output projection (EVA02)
    gated: bool = False  # act(gate(x)) * up(x) instead of act(up(x))
    mlp_norm: bool = False  # layer norm before the MLP's second linear (EVA02)
    layer_scale: bool = False
    norm_after: bool = False  # x + norm(f(x)) instead of x + f(norm(x)) (EVA02-E)
    causal: bool = False
    # rotary positions: side of the patch grid and of the grid of pre-training
    # (0: none); one prefix token is left alone
    rotary_grid: int = 0
    rotary_reference: int = 0


class RmsNorm(nn.Module):
    def __init__(self, width: int, eps: float):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.width = width
        self.eps = eps

    def forward(self, x):
        return F.rms_norm(x, (self.width,), self.weight, self.eps)


def make_norm(kind: str, width: int, eps: float) -> nn.Module:
    return RmsNorm(width, eps) if kind == "rms" else nn.LayerNorm(width, eps=eps)


class QuickGelu(nn.Module):
    def forward(self, x):
        # mul.Scalar: a plain product would put 1.702 into the trace as a CPU tensor.
        return x * torch.sigmoid(torch.ops.aten.mul.Scalar(x, 1.702))


def make_activation(name: str) -> nn.Module:
    if name == "quick_gelu":
        return QuickGelu()
    if name == "gelu_tanh":
        return nn.GELU(approximate="tanh")
    return {"gelu": nn.GELU, "silu": nn.SiLU}[name]()


def rotary_tables(grid: int, reference: int, head_width: int):
    """Cosine and sine [1 + grid*grid, head_width] of EVA02's axial rotary positions.

    Half of each head turns with the row, half with the column; neighbouring pairs of
    channels share a frequency. The first row (class token) does not turn.
    """
    bands = 1.0 / 10000.0 ** (torch.arange(head_width // 4, dtype=torch.float32) / (head_width // 4))
    steps = torch.arange(grid, dtype=torch.float32) / grid * reference
    angles = steps[:, None] * bands  # [grid, head_width/4]
    rows = angles[:, None, :].expand(grid, grid, -1)
    columns = angles[None, :, :].expand(grid, grid, -1)
    angles = torch.cat([rows, columns], -1).reshape(grid * grid, -1).repeat_interleave(2, -1)
    angles = torch.cat([torch.zeros(1, head_width), angles])
    return angles.cos(), angles.sin()


class Attention(nn.Module):
    def __init__(self, spec: BlockSpec):
        super().__init__()
        self.heads = spec.heads
        self.head_width = spec.width // spec.heads
        self.causal = spec.causal
        self.qkv = nn.Linear(spec.width, 3 * spec.width, bias=spec.qkv_bias)
        self.q_norm = RmsNorm(spec.width, spec.eps) if spec.qk_norm else None
        self.k_norm = RmsNorm(spec.width, spec.eps) if spec.qk_norm else None
        self.norm = nn.LayerNorm(spec.width, eps=spec.eps) if spec.attention_norm else None
        self.out = nn.Linear(spec.width, spec.width)
        self.rotary = spec.rotary_grid > 0
        if self.rotary:
            cos, sin = rotary_tables(spec.rotary_grid, spec.rotary_reference, self.head_width)
            self.register_buffer("cos", cos)
            self.register_buffer("sin", sin)

    def turn(self, x):
        turned = torch.stack([-x[..., 1::2], x[..., 0::2]], -1).flatten(-2)
        return x * self.cos + turned * self.sin

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, -1)
        if self.q_norm is not None:
            q, k = self.q_norm(q), self.k_norm(k)
        split = (self.heads, self.head_width)
        q = q.unflatten(-1, split).transpose(1, 2)
        k = k.unflatten(-1, split).transpose(1, 2)
        v = v.unflatten(-1, split).transpose(1, 2)
        if self.rotary:
            q, k = self.turn(q), self.turn(k)
        x = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        x = x.transpose(1, 2).flatten(2)
        if self.norm is not None:
            x = self.norm(x)
        return self.out(x)


class Mlp(nn.Module):
    def __init__(self, spec: BlockSpec):
        super().__init__()
        self.up = nn.Linear(spec.width, spec.hidden)
        self.gate = nn.Linear(spec.width, spec.hidden) if spec.gated else None
        self.activation = make_activation("silu" if spec.gated else spec.activation)
        self.norm = nn.LayerNorm(spec.hidden, eps=spec.eps) if spec.mlp_norm else None
        self.down = nn.Linear(spec.hidden, spec.width)

    def forward(self, x):
        if self.gate is not None:
            x = self.activation(self.gate(x)) * self.up(x)
        else:
            x = self.activation(self.up(x))
        if self.norm is not None:
            x = self.norm(x)
        return self.down(x)


class Block(nn.Module):
    def __init__(self, spec: BlockSpec):
        super().__init__()
        self.norm1 = make_norm(spec.norm, spec.width, spec.eps)
        self.attention = Attention(spec)
        self.norm2 = make_norm(spec.norm, spec.width, spec.eps)
        self.mlp = Mlp(spec)
        self.norm_after = spec.norm_after
        self.layer_scale = spec.layer_scale
        if spec.layer_scale:
            self.scale1 = nn.Parameter(torch.ones(spec.width))
            self.scale2 = nn.Parameter(torch.ones(spec.width))

    def forward(self, x):
        if self.norm_after:
            x = x + self.norm1(self.attention(x))
            return x + self.norm2(self.mlp(x))
        if self.layer_scale:
            x = x + self.scale1 * self.attention(self.norm1(x))
            return x + self.scale2 * self.mlp(self.norm2(x))
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))
