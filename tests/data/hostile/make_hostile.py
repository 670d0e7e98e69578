#!/usr/bin/env python3
"""Writes TorchScript archives that an encoder must not be: each would do more than compute.

    tests/data/hostile/make_hostile.py        (torch 2.13)

Run once by developers; the tests read what it wrote.
"""

from pathlib import Path

import torch


class ReadsFile(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        return torch.from_file("/etc/passwd", False, 16, dtype=torch.uint8)


class WritesFile(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        torch.save(x, "written-by-a-bundle.pt")
        return x


class Prints(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        print("here")
        return x


class RunsWhenLoaded(torch.nn.Module):
    @torch.jit.export
    def __getstate__(self):
        return (1, self.training)

    @torch.jit.export
    def __setstate__(self, state: tuple[int, bool]):
        torch.save(torch.zeros(1), "written-by-a-bundle.pt")
        self.training = state[1]

    def forward(self, x: torch.Tensor):
        return x


class BakedDevice(torch.nn.Module):
    """What tracing on a GPU leaves behind (BUGCASES 23)."""

    def forward(self, x: torch.Tensor):
        return torch.add(x, torch.zeros([1], device="cuda:0"))


here = Path(__file__).resolve().parent
for name, module in {
    "reads_file": ReadsFile(),
    "writes_file": WritesFile(),
    "prints": Prints(),
    "runs_when_loaded": RunsWhenLoaded(),
    "baked_device": BakedDevice(),
}.items():
    torch.jit.save(torch.jit.script(module), here / f"{name}.pt")
