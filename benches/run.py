"""Every speed claim of docs/performance.md, peers in the same run:

    scripts via benches/run.sh [--small] [--encoders b32 ...] [--update]

Ours and each peer take turns, five rounds; a figure is the median of its rounds. The peaks of float32 and bfloat16 are
measured before and after: more than a tenth apart, or another process at work, and the run says that it is void.
"""

import argparse
import json
import os
import platform
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ROUNDS = 5
# Of an image through the tower (open_clip's docs/model_profile.csv, one multiplication and one addition counted as two).
GIGAFLOP = {"b32": 8.8, "clip": 381.9, "siglip": 670.4, "clip-h": 334.6, "eva-g": 534.1}
# What takes long is done for these alone: all peers, two of which compile for minutes, and whole runs of the program.
THOROUGH = ("b32", "clip")


def bench(build: Path, name: str, small: bool, only: str = ".") -> dict:
    """Medians of a Google Benchmark program, in seconds, with its counters; its benchmarks take turns."""
    words = [build / "benches" / name, "--benchmark_format=json", f"--benchmark_filter={only}",
             f"--benchmark_repetitions={ROUNDS}", "--benchmark_enable_random_interleaving=true",
             "--benchmark_min_time=" + ("0.01" if small else "0.3")]
    output = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
    scale = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
    medians = {}
    for row in output["benchmarks"]:
        if row.get("aggregate_name") == "median" and not row.get("error_occurred"):
            name = row["run_name"].removesuffix("/real_time")
            medians[name] = {"seconds": row["real_time"] * scale[row["time_unit"]], **row}
    return medians


def rates(peaks: dict) -> dict:
    return {name: row["GFLOP/s"] for name, row in peaks.items() if "GFLOP/s" in row}


def wall(words: list, environment: dict) -> float:
    start = time.perf_counter()
    subprocess.run([str(word) for word in words], check=True, capture_output=True, env=environment)
    return time.perf_counter() - start


def take_turns(runners: dict) -> dict:
    """Median seconds of each; every round runs each once. A runner gives a list of seconds."""
    seconds = {name: [] for name in runners}
    for _ in range(ROUNDS):
        for name, run in runners.items():
            seconds[name] += run()
    return {name: statistics.median(values) for name, values in seconds.items()}


class Turns:
    """A program that repeats its work once for each line it is given: loaded once, and halted between its turns, since the
    threads of some runtimes go on waiting actively for long."""

    def __init__(self, words: list, repeats: int):
        self.words, self.repeats = [str(word) for word in words], repeats
        self.process = subprocess.Popen(self.words, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)
        self.once()  # loaded and warm
        self.process.send_signal(signal.SIGSTOP)

    def once(self) -> float:
        try:
            self.process.stdin.write("\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            sys.exit(f"{' '.join(self.words)}: ended with status {self.process.wait()}")
        return json.loads(line)["seconds"]

    def __call__(self) -> list[float]:
        self.process.send_signal(signal.SIGCONT)
        self.once()  # not counted: the caches hold another's work
        seconds = [self.once() for _ in range(self.repeats)]
        self.process.send_signal(signal.SIGSTOP)
        return seconds

    def close(self) -> None:
        self.process.send_signal(signal.SIGCONT)
        self.process.stdin.close()
        self.process.wait()


class Results:
    def __init__(self):
        self.rows = []

    def add(self, work, ours, peer, theirs, target, unit="ms"):
        """`target`: theirs / ours must reach it; None: shown without a bar."""
        ratio = theirs / ours
        met = "" if target is None else ("met" if ratio >= target else "NOT met")
        scale, digits = (1e3, 1) if unit == "ms" else (1, 2)
        self.rows.append((work, f"{ours * scale:.{digits}f}", peer, f"{theirs * scale:.{digits}f}", f"{ratio:.2f}",
                          "" if target is None else f"{target:g}", met))
        print(" | ".join(self.rows[-1]), file=sys.stderr, flush=True)

    def limit(self, work, seconds, most):
        """An absolute time, as issue texts give for start-up."""
        met = "met" if seconds <= most else "NOT met"
        self.rows.append((work, f"{seconds * 1e3:.1f}", "limit", f"{most * 1e3:.0f}", f"{most / seconds:.2f}", "1", met))
        print(" | ".join(self.rows[-1]), file=sys.stderr, flush=True)

    def markdown(self) -> str:
        head = ("work", "ours, ms", "peer", "peer, ms", "ratio", "target", "")
        lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
        return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in self.rows]) + "\n"


def start_up(results: Results, probe: Path, work: Path) -> None:
    home = dict(os.environ, HOME=str(work), OMP_NUM_THREADS="2")
    demo, file = ROOT / "demo", work / "demo.h5"
    wall([probe, "embed", demo, "-o", file, "-q"], home)
    wall([probe, "zeroshot", demo, "-q"], home)  # fills the cache
    jobs = {"probe --help": ([probe, "--help"], 0.05),
            "probe match FILE.h5 (demo)": ([probe, "match", file, "-q"], 0.5),
            "probe zeroshot demo, cached": ([probe, "zeroshot", demo, "-q"], 2.0)}
    times = take_turns({name: (lambda words=words: [wall(words, home)]) for name, (words, _) in jobs.items()})
    for name, (_, most) in jobs.items():
        results.limit(name, times[name], most)


def photos(results: Results, build: Path, small: bool) -> None:
    from PIL import Image

    ours = bench(build, "preprocess_bench", small)
    photo = ROOT / "demo/originals/kiwi/kiwi-01.jpg"
    image = Image.open(photo).convert("RGB")

    def timed(run):
        def once() -> list[float]:
            seconds = []
            for _ in range(5 if small else 40):
                start = time.perf_counter()
                run()
                seconds.append(time.perf_counter() - start)
            return seconds
        return once

    def pillow_fit(side):
        scale = side / min(image.size)
        size = tuple(max(side, int(length * scale)) for length in image.size)
        shrunk = image.resize(size, Image.BICUBIC)
        left, top = (size[0] - side) // 2, (size[1] - side) // 2
        return shrunk.crop((left, top, left + side, top + side))

    pillow = take_turns({"decode": timed(lambda: Image.open(photo).convert("RGB")),
                         **{side: timed(lambda side=side: pillow_fit(side)) for side in (224, 336, 384)}})
    results.add(f"JPEG decode, {image.size[0]} x {image.size[1]}", ours["decode_jpeg"]["seconds"], "Pillow",
                pillow["decode"], None)
    for side in (224, 336, 384):
        results.add(f"exact resize and crop to {side}", ours[f"fit_to_tower/{side}"]["seconds"], "Pillow", pillow[side], 1.8)


def search(results: Results, build: Path, small: bool, bandwidth: float, target: float) -> None:
    if small:
        times = bench(build, "search_bench", small, "/10000/")
        results.add("top-5 of 64 queries in 10k x 1152", times["ours/64/10000"]["seconds"], "FAISS IndexFlatIP",
                    times["faiss_flat/64/10000"]["seconds"], None)
        return
    times = bench(build, "search_bench", small, "/100000/")
    results.add("top-5 of 1,000 queries in 100k x 1152", times["ours/1000/100000"]["seconds"], "FAISS IndexFlatIP",
                times["faiss_flat/1000/100000"]["seconds"], target)
    one = times["ours/1/100000"]["seconds"]
    results.add("top-5 of one query in 100k x 1152", one, "FAISS IndexFlatIP", times["faiss_flat/1/100000"]["seconds"], None)
    results.add("the same", one, "reading the float rows at 80 % of the bandwidth",
                100_000 * 1152 * 4 / bandwidth / 0.8, 1.0)


def files(results: Results, build: Path, small: bool) -> None:
    times = {name: row["seconds"] for name, row in bench(build, "store_bench", small).items()}
    results.add("write 151 MB of vectors, with fsync", times["write_ours"], "write()", times["write_raw"], 0.9)
    results.add("read float16 vectors (75 MB)", times["read_halves_ours"], "HDF5's converter", times["read_halves_hdf5"], 10)


def peak_memory(words: list) -> float:
    """Bytes of resident memory at the most."""
    process = subprocess.Popen([str(word) for word in words], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"{words[0]}: status {status}")
    return usage.ru_maxrss * 1024


def make_photos(folder: Path, count: int, side: int) -> None:
    """JPEGs of `side` pixels, no two alike, from the demo's photos."""
    from PIL import Image

    folder.mkdir(parents=True)
    originals = sorted((ROOT / "demo/originals").glob("*/*.jpg"))
    for i in range(count):
        image = Image.open(originals[i % len(originals)]).convert("RGB")
        shift = i // len(originals)
        image.crop((shift, 0, image.width, image.height)).resize((side, side), Image.BICUBIC).save(
            folder / f"{i:04}.jpg", quality=90)


def end_to_end(results: Results, build: Path, name: str, tail: list, work: Path, bundle: Path) -> None:
    """Seconds a photo of `probe embed`, start-up subtracted by running it on few and on many, and of the tower alone, which
    takes its turns between them. A thread of `probe embed` takes a whole batch where the tower alone cuts it in two."""
    batch, threads, _, dtype = tail
    few, many = (4 * batch, 20 * batch) if name == "b32" else (batch, (10 if dtype == "bfloat16" else 6) * batch)
    for side, target in ((500, 0.75), (1024, 0.6)) if name == "b32" else ((1024, 0.95),):
        tower = Turns([build / "benches/encoder_bench", bundle, *tail], 5 if name == "b32" else 1)
        times = {"tower": tower}
        for count in (few, many):
            photos = work / f"photos-{name}-{side}-{count}"
            if not photos.exists():
                make_photos(photos, count, side)

            def embed(photos=photos):
                with tempfile.TemporaryDirectory(dir=work) as home:  # no cache of the run before
                    return [wall([build / "bin/probe", "embed", photos, "-o", Path(home) / "x.h5", "--encoder", bundle,
                                  "--batch-size", batch, "--threads", threads, "--dtype", dtype, "--no-text", "-q"],
                                 dict(os.environ, HOME=home))]
            times[count] = embed
        seconds = take_turns(times)
        tower.close()
        each = (seconds[many] - seconds[few]) / (many - few)
        results.add(f"{name} {dtype}: photo of {side} pixels to vector", each, "the tower alone", seconds["tower"] / batch,
                    target)


def encoders(results: Results, build: Path, name: str, batch: int, dtype: str, threads: int, repeats: int, models: Path,
             work: Path, peaks: dict, wanted: list) -> None:
    folder = models / name
    if not (folder / "model.onnx").exists():
        subprocess.run([sys.executable, ROOT / "benches/make_models.py", name, folder], check=True)
    thorough = name in THOROUGH and batch > 1
    peers = [peer for peer in wanted if (peer != "onnxruntime" or dtype == "float32")
             and (thorough or peer in ("torchscript", "openvino"))]
    program, bundle = build / "benches/encoder_bench", folder / "bundle"
    tail, turns = [batch, threads, 0, dtype], {}
    try:
        turns["ours"] = Turns([program, bundle, *tail], repeats)
        turns["ours, plain"] = Turns([program, bundle, *tail, "plain"], repeats)
        for peer in peers:
            turns[peer] = Turns([sys.executable, ROOT / "benches/peer.py", peer, folder, *tail], repeats)
        times = take_turns(turns)
    finally:
        for turn in turns.values():
            turn.close()
    half = dtype == "bfloat16"
    targets = {"openvino": 1.05 if half and name == "b32" else 1.0}  # the bars of DESIGN.md, ruling 10
    if half and name == "clip":
        targets |= {"torchscript": 1.3, "compile": 1.3}
    work_name = f"{name} {dtype}, batch {batch}, {threads} threads"
    for peer in ["ours, plain"] + peers:
        results.add(work_name, times["ours"], peer, times[peer], targets.get(peer))
    operations, peak = GIGAFLOP.get(name, 0) * batch, peaks.get("peak_tiles" if half else "peak_fma")
    if operations and peak:
        results.add(work_name, times["ours"], "its multiplications and additions at the peak", operations / peak, None)
    if batch == 1:
        return
    stored = (bundle / "image.pt").stat().st_size
    empty = peak_memory([program, ROOT / "tests/data/bundles/clip", 1, threads, 1])
    used = peak_memory([program, bundle, batch, threads, 1, dtype]) - empty
    results.add(f"{name} {dtype}: peak memory without LibTorch's, MB", used / 1e6, "1.4 times the weights", 1.4 * stored / 1e6,
                1.0, unit="MB")
    if thorough:
        end_to_end(results, build, name, tail, work, bundle)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=Path, default=ROOT / "build/release")
    parser.add_argument("--small", action="store_true", help="seconds rather than minutes: does it run at all?")
    parser.add_argument("--encoders", nargs="*", default=["b32"],
                        help="b32 clip siglip clip-h eva-g; clip:bfloat16 for one type alone")
    parser.add_argument("--peers", nargs="*", default=["torchscript", "compile", "aoti", "openvino", "onnxruntime"])
    parser.add_argument("--only-encoders", action="store_true", help="leave out all that needs no tower")
    parser.add_argument("--models", type=Path, help="folder where the random weights are kept")
    parser.add_argument("--update", type=Path, help="write the page with the table there")
    options = parser.parse_args()
    busy = os.getloadavg()[0]
    flags = next((line for line in open("/proc/cpuinfo") if line.startswith("flags")), "")
    model = next((line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "?")
    threads = len(os.sched_getaffinity(0))
    peak = bench(options.build, "peak_bench", options.small)
    before, bandwidth = rates(peak), peak["memory_read"]["bytes_per_second"]
    results = Results()
    with tempfile.TemporaryDirectory(prefix="probe-bench-") as temporary:
        work = Path(temporary)
        if not options.only_encoders:
            start_up(results, options.build / "bin/probe", work)
            photos(results, options.build, options.small)
            search(results, options.build, options.small, bandwidth, 4.0 if "amx_int8" in flags else 1.5)
            if not options.small:
                files(results, options.build, options.small)
        if not options.small:
            both = ["float32"] + (["bfloat16"] if "avx512_bf16" in flags or "amx_bf16" in flags else [])
            for name, _, only in (word.partition(":") for word in options.encoders):
                for dtype in [only] if only else both:
                    for batch in (8, 1) if name == "b32" else (4,):
                        encoders(results, options.build, name, batch, dtype, threads, 5 if name == "b32" else 1,
                                 options.models or work, work, before, options.peers)
    after = rates(bench(options.build, "peak_bench", options.small))
    void = []
    if busy > 0.5:
        void.append(f"load average {busy:.1f} at the start")
    for name in before:
        if abs(after[name] - before[name]) > 0.1 * before[name]:
            void.append(f"{name} {before[name]:.0f} GFLOP/s before, {after[name]:.0f} after")
    widest = "AMX" if "amx_bf16" in flags else "AVX-512" if "avx512f" in flags else "AVX2"
    told = {"peak_fma": "float32 peak", "peak_tiles": "bfloat16 peak (AMX)"}
    machine = (f"{model}, {threads} cores, {widest}, Linux {platform.release()}; "
               + "".join(f"{told[name]} {before[name]:.0f} then {after[name]:.0f} GFLOP/s, " for name in before)
               + f"memory {bandwidth / 1e9:.1f} GB/s")
    verdict = "VOID, the machine was busy: " + "; ".join(void) if void else "The machine was idle."
    text = f"{machine}. Median of {ROUNDS} rounds. {verdict}\n\n{results.markdown()}"
    print(text)
    if options.update and not options.small:
        page = options.update.read_text()
        begin, end = "<!-- benches/run.py begins -->\n", "<!-- ends -->"
        options.update.write_text(page[:page.index(begin) + len(begin)] + text + page[page.index(end):])
    sys.exit(1 if void and not options.small else 0)


if __name__ == "__main__":
    main()
