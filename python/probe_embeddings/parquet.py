"""probe-parquet: streams an embedding file into Parquet.

A row is an item: the columns of /items as strings, and each of /image/embedding and
/image/mean_tokens that the file has as a fixed-size list of float32, raw. The file's
attributes stand in the schema's metadata as "probe.<name>". Memory is that of one row
group, whatever the file's length.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

import numpy as np

from .file import COLUMNS, EmbeddingFile, FormatError, Of, open as open_file

ROWS_PER_GROUP = 4096


def group_rows(file: EmbeddingFile, wanted: int) -> int:
    """Whole chunks of the file, about `wanted` rows."""
    chunks = [file.chunk_rows(of) for of in parts(file)]
    chunk = max(chunks, default=256)
    return max(1, wanted // chunk) * chunk


def parts(file: EmbeddingFile) -> list[Of]:
    return [of for of in ("embedding", "mean_tokens") if file.has(of)]


def write_parquet(file: EmbeddingFile, output: str | os.PathLike[str], rows: int = ROWS_PER_GROUP) -> int:
    """Writes aside and renames; returns the number of row groups."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    fields = [pa.field(name, pa.string(), nullable=False) for name in COLUMNS]
    for of in parts(file):
        fields.append(pa.field(of, pa.list_(pa.float32(), file.width(of)), nullable=False))
    metadata = {f"probe.{name}": value for name, value in file.provenance.items()}
    schema = pa.schema(fields, metadata=metadata)
    step = group_rows(file, rows)
    aside = f"{os.fspath(output)}.partial-{os.getpid()}"
    groups = 0
    try:
        with pq.ParquetWriter(aside, schema) as writer:
            for start in range(0, len(file), step):
                stop = min(start + step, len(file))
                columns = [pa.array(file.strings(name, start, stop), pa.string()) for name in COLUMNS]
                for of in parts(file):
                    block = file.block(of, start, stop)
                    if not np.isfinite(block).all():
                        raise FormatError(f"{file.path}:/image/{of}: expected finite values")
                    values = pa.array(block.reshape(-1), pa.float32())
                    columns.append(pa.FixedSizeListArray.from_arrays(values, file.width(of)))
                writer.write_table(pa.Table.from_arrays(columns, schema=schema), row_group_size=step)
                groups += 1
        os.replace(aside, output)
    except BaseException:
        if os.path.exists(aside):
            os.unlink(aside)
        raise
    return groups


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="probe-parquet", description="Streams an embedding file of probe into Parquet."
    )
    parser.add_argument("file", help="embedding file (.h5)")
    parser.add_argument("-o", "--output", required=True, help="Parquet file to write")
    parser.add_argument(
        "--rows", type=int, default=ROWS_PER_GROUP, help="rows of a row group, rounded to chunks"
    )
    options = parser.parse_args(arguments)
    if options.rows < 1:
        parser.error("--rows: expected at least 1")
    try:
        with open_file(options.file) as file:
            groups = write_parquet(file, options.output, options.rows)
            print(f"{options.output}: {len(file)} items in {groups} row groups")
    except ModuleNotFoundError as error:
        print(f"error: {error}; pip install \"probe-embeddings[parquet]\"", file=sys.stderr)
        return 1
    except (FormatError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
