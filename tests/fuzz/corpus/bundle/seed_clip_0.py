0class Attention(Module):
  __parameters__ = []
  __buffers__ = []
  training : bool
  _is_full_backward_hook : Optional[bool]
  qkv : __torch__.torch.nn.modules.linear.___torch_mangle_38.Linear
  out : __torch__.torch.nn.modules.linear.___torch_mangle_39.Linear
  def forward(self: __torch__.probe_export.blocks.___torch_mangle_40.Attention,
    argument_1: Tensor) -> Tensor:
    out = self.out
    qkv = self.qkv
    _0 = torch.chunk((qkv).forward(argument_1, ), 3, -1)
    _1, _2, _3, = _0
    q = torch.transpose(torch.unflatten(_1, -1, [2, 4]), 1, 2)
    k = torch.transpose(torch.unflatten(_2, -1, [2, 4]), 1, 2)
    v = torch.transpose(torch.unflatten(_3, -1, [2, 4]), 1, 2)
    x = torch.scaled_dot_product_attention(q, k, v, None, 0., True)
    input = torch.flatten(torch.transpose(x, 1, 2), 2)
    return (out).forward(input, )
