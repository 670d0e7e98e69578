"""probe-export: one line on stderr for every failure; exit 0 done, 1 failed, 2 usage."""

import argparse
import sys
from pathlib import Path

from probe_export import __version__
from probe_export.errors import ExportError
from probe_export.sources import KNOWN

EXAMPLES = """examples:
  probe-export openai/clip-vit-large-patch14-336 -o bundles/clip --name clip --dtype float16
  probe-export ./siglip-so400m-patch14-384 -o bundles/siglip --name siglip
  probe-export open_clip:EVA01-g-14/laion400m_s11b_b41k -o bundles/eva --name eva
  probe-export ./llama3-llava-next-8b -o bundles/llava-next --layers=-2
"""


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="probe-export", description="Export a vision encoder to a bundle that probe reads.",
        epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False)
    parser.add_argument("model", metavar="MODEL",
                        help="folder, hub id (owner/name[@revision]), open_clip:ARCHITECTURE/TAG, "
                             f"open_clip:ARCHITECTURE/FILE, or one of {', '.join(KNOWN)}")
    parser.add_argument("-o", "--output", required=True, metavar="BUNDLE", help="folder to make; must not exist")
    parser.add_argument("--name", help="short name (default: that of the BUNDLE folder)")
    parser.add_argument("--layers", metavar="LIST",
                        help="token outputs, e.g. --layers=-1,-2,post (default: per family, see the README)")
    parser.add_argument("--dtype", choices=("float32", "float16"), default="float32",
                        help="how the weights are stored (default: float32)")
    parser.add_argument("--licence", "--license", help="licence of the weights (default: what the model card says)")
    parser.add_argument("--source", help="what encoder.json names as the checkpoint (default: MODEL)")
    parser.add_argument("--template", action="append", metavar="TEXT",
                        help="default prompt template with {} for the name; may be repeated (default: {})")
    parser.add_argument("--threads", type=int, default=0, help="threads for the checks (default: all)")
    parser.add_argument("--dry-run", action="store_true", help="say what would be exported and what it costs, then stop")
    parser.add_argument("--quiet", action="store_true", help="no progress lines")
    parser.add_argument("--version", action="version", version=f"probe_export {__version__}")
    options = parser.parse_args(arguments)
    for template in options.template or []:
        if "{}" not in template:
            parser.error(f"--template {template!r}: {{}} for the name is required")
    return options


def run(options: argparse.Namespace) -> int:
    from probe_export.bundle import clean_name, memory_line, write_bundle
    from probe_export.families import make_plan

    if options.threads > 0:
        import torch

        torch.set_num_threads(options.threads)

    def say(line: str) -> None:
        if not options.quiet:
            print(f"probe-export: {line}", file=sys.stderr, flush=True)

    target = Path(options.output)
    layers = options.layers.split(",") if options.layers else None
    plan = make_plan(options.model, layers)
    say(memory_line(plan, options.dtype))
    if options.dry_run:
        return 0
    name = options.name or clean_name(target.name)
    if clean_name(name) != name or len(name) > 128:
        raise ExportError(f"--name {name}: lower-case letters, digits, '.', '_' and '-' are required")
    worst = write_bundle(plan, target, name=name, dtype=options.dtype, licence=options.licence,
                         source=options.source, templates=options.template, say=say)
    print(f"{target}: {plan.architecture}, {options.dtype}, cosine to the reference {worst:.7f}")
    return 0


def main(arguments: list[str] | None = None) -> int:
    try:
        options = parse(arguments)
    except SystemExit as stop:
        return int(stop.code or 0)
    try:
        return run(options)
    except ExportError as error:
        print(f"probe-export: {error}", file=sys.stderr)
    except KeyboardInterrupt:
        print("probe-export: stopped; nothing was written", file=sys.stderr)
    except (OSError, MemoryError) as error:
        print(f"probe-export: {type(error).__name__}: {error}", file=sys.stderr)
    return 1
