"""One other runtime on the weights of make_models.py; one JSON line a repeat on stdout, REPEATS 0: one for each line of
stdin:

    python benches/peer.py RUNTIME FOLDER BATCH THREADS REPEATS [DTYPE]

RUNTIME: eager, torchscript (frozen), compile (inductor, freezing), aoti (AOTInductor: FOLDER/model_DTYPE_BATCH.pt2, made at
first), onnxruntime, openvino. DTYPE float32 or bfloat16.
"""

import json
import os
import sys
import time
from pathlib import Path

runtime, folder, batch, threads, repeats = sys.argv[1], Path(sys.argv[2]), *map(int, sys.argv[3:6])
dtype = sys.argv[6] if len(sys.argv) > 6 else "float32"
os.environ["OMP_NUM_THREADS"] = str(threads)

import numpy as np  # noqa: E402  (after the number of threads)

bundle = json.loads((folder / "bundle/encoder.json").read_text())
size = bundle["image"]["size"]
pixels = np.random.default_rng(1).standard_normal((batch, 3, size, size), dtype=np.float32)


def torch_runner():
    import torch

    torch.set_num_threads(threads)
    kind = getattr(torch, dtype)
    if runtime == "torchscript":
        model = torch.jit.freeze(torch.jit.load(str(folder / "bundle" / bundle["image"]["file"])).eval().to(kind))
    else:
        import make_models

        model = make_models.load_peer(folder).to(kind)
        if runtime in ("aoti", "compile"):
            import torch._inductor.config

            torch._inductor.config.freezing = True
        if runtime == "aoti":
            package = folder / f"model_{dtype}_{batch}.pt2"
            if not package.exists():
                program = torch.export.export(model, (torch.from_numpy(pixels).to(kind),))
                torch._inductor.aoti_compile_and_package(program, package_path=str(package))
            model = torch._inductor.aoti_load_package(str(package))
        if runtime == "compile":
            model = torch.compile(model)
    tensor = torch.from_numpy(pixels).to(kind)

    def run():
        with torch.inference_mode() if runtime in ("torchscript", "eager") else torch.no_grad():
            return model(tensor)[0].float().numpy()

    return run


def onnxruntime_runner():
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"])
    return lambda: session.run(["image_embedding", "image_tokens"], {"pixels": pixels})[0]


def openvino_runner():
    import openvino

    core = openvino.Core()
    # Set in words: by itself it takes bfloat16 where the CPU has it.
    kind = openvino.Type.bf16 if dtype == "bfloat16" else openvino.Type.f32
    compiled = core.compile_model(core.read_model(folder / "model.onnx"), "CPU",
                                  {"INFERENCE_PRECISION_HINT": kind, "INFERENCE_NUM_THREADS": threads})
    return lambda: compiled(pixels)[0]


runners = {"onnxruntime": onnxruntime_runner, "openvino": openvino_runner}
run = runners.get(runtime, torch_runner)()


def repeat_once() -> None:
    start = time.perf_counter()
    embedding = run()
    seconds = time.perf_counter() - start
    print(json.dumps({"seconds": seconds, "sum": float(np.sum(embedding))}), flush=True)


for _ in range(2):
    run()
for _ in range(repeats) if repeats else sys.stdin:
    repeat_once()
