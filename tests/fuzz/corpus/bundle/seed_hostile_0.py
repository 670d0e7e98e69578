0class WritesFile(Module):
  __parameters__ = []
  __buffers__ = []
  training : bool
  _is_full_backward_hook : Optional[bool]
  def forward(self: __torch__.WritesFile,
    x: Tensor) -> Tensor:
    torch.save(x, "written-by-a-bundle.pt")
    return x
