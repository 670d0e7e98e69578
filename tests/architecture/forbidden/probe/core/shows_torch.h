// Must be refused: a public header shows LibTorch.
#include <torch/script.h>
