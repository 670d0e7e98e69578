0class Prints(Module):
  __parameters__ = []
  __buffers__ = []
  training : bool
  _is_full_backward_hook : Optional[bool]
  def forward(self: __torch__.Prints,
    x: Tensor) -> Tensor:
    print("here")
    return x
