"""One embedding file, read lazily: only what is asked for leaves the disk."""

from __future__ import annotations

import os
from collections.abc import Sequence
from types import TracebackType
from typing import Literal

import h5py
import numpy as np
import numpy.typing as npt

Of = Literal["embedding", "mean_tokens"]
Rows = npt.NDArray[np.int64]
Vectors = npt.NDArray[np.float32]

SCHEMA_VERSION = "1"
COLUMNS = ("id", "path", "category", "condition", "original_id", "attribute", "content_sha256")
ATTRIBUTES = (
    "encoder",
    "architecture",
    "bundle_sha256",
    "preprocessing",
    "layer",
    "pooling",
    "compute_dtype",
    "runtime",
    "versions",
    "command_line",
)


class FormatError(ValueError):
    """The file is not what FORMAT.md asks for: "<file>:<object>: expected ..., got ..."."""


class EmbeddingFile:
    """An open embedding file; `open` makes it. Use it with `with`, or call `close`.

    >>> file = open("tests/data/embeddings/small.h5")
    >>> file.ids
    ['banana-01', 'banana-02', 'kiwi-01', 'kiwi-02', 'kiwi-01-rich-purple']
    >>> file.categories[0], file.conditions[4], file.column("original_id")[4]
    ('banana', 'color', 'kiwi-01')
    >>> file.provenance["layer"], file.provenance["dtype"]
    ('last', 'float16')
    >>> file.close()
    """

    def __init__(self, path: str | os.PathLike[str], allow_outside: bool = False) -> None:
        self.path = os.fspath(path)
        self._allow_outside = allow_outside
        self._checked_parts: set[str] = set()
        self._file = h5py.File(self.path, "r")
        try:
            self._check_version()
            self._columns: dict[str, list[str]] = {}
            self._row_of_id: dict[str, int] | None = None
        except BaseException:
            self._file.close()
            raise

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> EmbeddingFile:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __len__(self) -> int:
        return int(self._dataset("items/id").shape[0])

    def __repr__(self) -> str:
        return f"<EmbeddingFile {self.path!r}: {len(self)} items of {self.provenance['encoder']}>"

    @property
    def provenance(self) -> dict[str, str]:
        """What fixed the numbers: every attribute of the file, as text."""
        return {name: str(value) for name, value in self._file.attrs.items()}

    def column(self, name: str) -> list[str]:
        """A column of the items: id, path, category, condition, original_id, ..."""
        if name not in COLUMNS:
            raise KeyError(f"{name}: expected one of {', '.join(COLUMNS)}")
        if name not in self._columns:
            self._columns[name] = self._strings(f"items/{name}", 0, None)
        return self._columns[name]

    @property
    def ids(self) -> list[str]:
        return self.column("id")

    @property
    def categories(self) -> list[str]:
        return self.column("category")

    @property
    def conditions(self) -> list[str]:
        return self.column("condition")

    def rows(
        self,
        *,
        ids: Sequence[str] | None = None,
        category: str | None = None,
        condition: str | None = None,
    ) -> Rows:
        """Rows of the items that are asked for, in the order of `ids`, else of the file.

        >>> file = open("tests/data/embeddings/small.h5")
        >>> file.rows(category="kiwi", condition="original")
        array([2, 3])
        >>> file.rows(ids=["kiwi-02", "banana-01"])
        array([3, 0])
        >>> file.rows(ids=["plum-01"])
        Traceback (most recent call last):
        KeyError: "no item has the id 'plum-01'"
        >>> file.close()
        """
        if ids is None:
            chosen = np.arange(len(self), dtype=np.int64)
        else:
            if self._row_of_id is None:
                self._row_of_id = {name: row for row, name in enumerate(self.ids)}
            unknown = next((name for name in ids if name not in self._row_of_id), None)
            if unknown is not None:
                raise KeyError(f"no item has the id {unknown!r}")
            chosen = np.array([self._row_of_id[name] for name in ids], dtype=np.int64)
        for wanted, name in ((category, "category"), (condition, "condition")):
            if wanted is not None:
                values = self.column(name)
                chosen = chosen[[values[row] == wanted for row in chosen]]
        return chosen

    def has(self, of: Of) -> bool:
        """True if the file has these vectors."""
        return f"image/{of}" in self._file

    def width(self, of: Of) -> int:
        return int(self._dataset(f"image/{of}").shape[1])

    def vectors(
        self,
        of: Of = "embedding",
        *,
        ids: Sequence[str] | None = None,
        category: str | None = None,
        condition: str | None = None,
    ) -> Vectors:
        """Raw vectors as float32 [rows, width]; the selection is that of `rows`.

        >>> file = open("tests/data/embeddings/small.h5")
        >>> file.vectors().shape, file.vectors(ids=["kiwi-01"]).dtype
        ((5, 512), dtype('float32'))
        >>> file.close()
        """
        data = self._dataset(f"image/{of}")
        if ids is None and category is None and condition is None:
            return np.asarray(data[:], dtype=np.float32)
        chosen = self.rows(ids=ids, category=category, condition=condition)
        if chosen.size == 0:
            return np.empty((0, data.shape[1]), dtype=np.float32)
        first = int(chosen.min())  # one read of what lies between; point selections are slow
        return np.asarray(data[first : int(chosen.max()) + 1][chosen - first], dtype=np.float32)

    def block(self, of: Of, start: int, stop: int) -> Vectors:
        """Raw vectors of the rows start to stop - 1, for streaming."""
        return np.asarray(self._dataset(f"image/{of}")[start:stop], dtype=np.float32)

    def chunk_rows(self, of: Of) -> int:
        """Rows that lie together on disk: the step to stream by."""
        return _chunk_rows(self._dataset(f"image/{of}"))

    @property
    def prompts(self) -> list[str]:
        """The texts that were embedded; none if the file has no texts."""
        return self._strings("text/prompt", 0, None) if "text" in self._file else []

    def text_vectors(self) -> Vectors:
        """Raw vectors of the prompts [prompts, width]."""
        return np.asarray(self._dataset("text/embedding")[:], dtype=np.float32)

    def verify(self) -> None:
        """Checks everything FORMAT.md asks for and raises FormatError for the first thing
        that is wrong: attributes, shapes, types, unique ids, finite values."""
        for name in ATTRIBUTES:
            if name not in self._file.attrs:
                self._fail("", f"attribute {name!r} is missing")
        n = len(self)
        for name in COLUMNS:
            found = len(self.column(name))
            if found != n:
                self._fail(f"items/{name}", f"expected {n} rows, got {found}")
        seen: set[str] = set()
        for name in self.ids:
            if name in seen:
                self._fail("items/id", f"{name!r} stands twice")
            seen.add(name)
        for part, rank in (("embedding", 2), ("mean_tokens", 2), ("tokens", 3)):
            if f"image/{part}" in self._file:
                self._check_vectors(f"image/{part}", rank, n)
        if "text" in self._file:
            self._check_vectors("text/embedding", 2, len(self.prompts))
            width = self._dataset("text/embedding").shape[1]
            if self.has("embedding") and width != self.width("embedding"):
                self._fail("text/embedding", f"expected width {self.width('embedding')}, got {width}")

    def strings(self, column: str, start: int, stop: int) -> list[str]:
        """Part of a column, without reading the rest."""
        return self._strings(f"items/{column}", start, stop)

    def _fail(self, name: str, message: str) -> None:
        place = f"{self.path}:/{name}" if name else self.path
        raise FormatError(f"{place}: {message}")

    def _check_version(self) -> None:
        attributes = self._file.attrs
        if attributes.get("format") != "probe-embeddings":
            self._fail("", f"expected format probe-embeddings, got {attributes.get('format')!r}")
        if attributes.get("schema_version") != SCHEMA_VERSION:
            found = attributes.get("schema_version")
            self._fail("", f"expected schema version {SCHEMA_VERSION!r}, got {found!r}")
        if attributes.get("complete", "true") != "true":
            self._fail("", "is marked as not complete")

    def _dataset(self, name: str) -> h5py.Dataset:
        group = ""
        for part in name.split("/"):  # a file from elsewhere must not make us open another
            group = f"{group}/{part}"
            link = self._file.get(group, getlink=True)
            if link is None:
                self._fail(name, "expected a dataset, got nothing")
            if not isinstance(link, h5py.HardLink):
                self._fail(name, "is a soft or external link, which is refused")
        found = self._file[name]
        if not isinstance(found, h5py.Dataset):
            self._fail(name, "expected a dataset, got a group")
        if found.is_virtual and name not in self._checked_parts:
            self._check_parts(name, found)
            self._checked_parts.add(name)
        return found

    def _check_parts(self, name: str, data: h5py.Dataset) -> None:
        """HDF5 reads zeros where a part of a virtual dataset is missing, and parts from anywhere."""
        if not name.startswith("image/"):
            self._fail(name, "is a virtual dataset, which is refused")
        folder = os.path.realpath(os.path.dirname(self.path) or ".")
        covered = 0
        for part in data.virtual_sources():
            path = os.path.realpath(os.path.join(folder, part.file_name))
            if os.path.commonpath([folder, path]) != folder and not self._allow_outside:
                self._fail(name, f"its part {part.file_name!r} lies outside {folder}")
            if not os.path.isfile(path):
                self._fail(name, f"its part {part.file_name!r} is missing")
            rows = part.vspace.get_select_bounds()
            with h5py.File(path, "r") as file:
                found = file.get(part.dset_name)
                if (
                    not isinstance(found, h5py.Dataset)
                    or found.is_virtual
                    or found.shape != (rows[1][0] - rows[0][0] + 1, *data.shape[1:])
                    or file.attrs.get("bundle_sha256") != self._file.attrs.get("bundle_sha256")
                ):
                    self._fail(name, f"its part {part.file_name!r} holds something else")
            if rows[0][0] != covered:
                self._fail(name, f"expected parts that cover its rows in order, got row {rows[0][0]}")
            covered = rows[1][0] + 1
        if covered != data.shape[0]:
            self._fail(name, f"expected parts that cover {data.shape[0]} rows, got {covered}")

    def _strings(self, name: str, start: int, stop: int | None) -> list[str]:
        data = self._dataset(name)
        if h5py.check_string_dtype(data.dtype) is None or data.ndim != 1:
            self._fail(name, "expected a list of strings")
        return [str(value) for value in data.asstr()[start:stop]]

    def _check_vectors(self, name: str, rank: int, n: int) -> None:
        data = self._dataset(name)
        if data.ndim != rank:
            self._fail(name, f"expected {rank} dimensions, got {data.ndim}")
        if data.dtype not in (np.dtype("<f4"), np.dtype("<f2")):
            self._fail(name, f"expected little-endian float32 or float16, got {data.dtype}")
        if data.shape[0] != n:
            self._fail(name, f"expected {n} rows, got {data.shape[0]}")
        step = _chunk_rows(data)
        for start in range(0, n, step):
            good = np.isfinite(data[start : start + step]).reshape(min(step, n - start), -1).all(axis=1)
            if not good.all():
                row = start + int(np.argmin(good))
                self._fail(name, f"row {row}: expected finite values, got NaN or infinity")


def _chunk_rows(data: h5py.Dataset) -> int:
    return int(data.chunks[0]) if data.chunks else 256


def open(path: str | os.PathLike[str], *, allow_outside: bool = False) -> EmbeddingFile:
    """Opens an embedding file. Raises FormatError if it is another kind of file or of an
    unknown schema, OSError if it cannot be opened. Parts of a virtual file must lie below its
    folder unless `allow_outside`.

    >>> with open("tests/data/embeddings/small.h5") as file:
    ...     print(file)
    <EmbeddingFile 'tests/data/embeddings/small.h5': 5 items of demo>
    """
    return EmbeddingFile(path, allow_outside)
