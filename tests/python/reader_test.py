"""python/probe_embeddings: what it gives is what h5py reads; what is wrong is named."""

import shutil

import h5py
import numpy as np
import probe_embeddings
import pytest
from conftest import ROOT, run_probe

SMALL = ROOT / "tests/data/embeddings/small.h5"


def changed(folder, change):
    """A copy of the small file after `change(h5py file)`."""
    path = folder / "changed.h5"
    shutil.copy(SMALL, path)
    with h5py.File(path, "r+") as file:
        change(file)
    return path


def replace(name, data, **options):
    def change(file):
        del file[name]
        file.create_dataset(name, data=data, **options)

    return change


def test_rows_are_those_of_h5py():
    with probe_embeddings.open(SMALL) as ours, h5py.File(SMALL) as theirs:
        stored = theirs["image/embedding"][:].astype(np.float32)
        np.testing.assert_array_equal(ours.vectors(), stored)
        np.testing.assert_array_equal(ours.vectors(ids=["kiwi-02", "banana-01"]), stored[[3, 0]])
        np.testing.assert_array_equal(ours.vectors(category="kiwi"), stored[2:])
        np.testing.assert_array_equal(ours.vectors(category="kiwi", condition="color"), stored[4:])
        assert ours.vectors(category="plum").shape == (0, 512)
        np.testing.assert_array_equal(ours.block("mean_tokens", 1, 3), theirs["image/mean_tokens"][1:3])
        np.testing.assert_array_equal(ours.text_vectors(), theirs["text/embedding"][:])
        assert ours.provenance == {name: str(value) for name, value in theirs.attrs.items()}
        assert ours.column("content_sha256") == list(theirs["items/content_sha256"].asstr()[:])
        assert ours.strings("id", 1, 3) == ["banana-02", "kiwi-01"]


def test_files_of_the_program_are_verified(embedded, tmp_path):
    path, folder = embedded
    with probe_embeddings.open(path) as file:
        file.verify()
        assert len(file) == 8 and file.has("embedding") and file.width("mean_tokens") == 1280
        np.save(tmp_path / "v.npy", file.vectors("mean_tokens"))
        (tmp_path / "ids.txt").write_text("".join(f"{name}\n" for name in file.ids))
    run_probe("import", tmp_path / "v.npy", "--ids", tmp_path / "ids.txt", "--as", "mean-tokens",
              "-o", tmp_path / "i.h5", "-q", home=folder)  # fmt: skip
    with probe_embeddings.open(tmp_path / "i.h5") as file:
        file.verify()
        assert not file.has("embedding") and file.prompts == []
        assert file.provenance["preprocessing"] == "imported, preprocessing unknown"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (replace("image/embedding", np.full((5, 512), np.nan, "<f4")), "/image/embedding: row 0: expected finite"),
        (replace("image/embedding", np.zeros((4, 512), "<f4")), "/image/embedding: expected 5 rows, got 4"),
        (replace("image/embedding", np.zeros((5, 512), "<f8")), "expected little-endian float32 or float16, got float64"),
        (replace("image/mean_tokens", np.zeros(5, "<f4")), "/image/mean_tokens: expected 2 dimensions, got 1"),
        (replace("text/embedding", np.zeros((2, 5), "<f4")), "/text/embedding: expected width 512, got 5"),
        (replace("items/id", ["a", "b", "c", "b", "d"]), "/items/id: 'b' stands twice"),
        (replace("items/category", ["a"]), "/items/category: expected 5 rows, got 1"),
        (replace("items/category", np.arange(5)), "/items/category: expected a list of strings"),
        (lambda file: file.attrs.__delitem__("layer"), "attribute 'layer' is missing"),
        (lambda file: file.__delitem__("items/path"), "/items/path: expected a dataset, got nothing"),
    ],
)
def test_verify_names_what_is_wrong(tmp_path, change, message):
    with probe_embeddings.open(changed(tmp_path, change)) as file:
        with pytest.raises(probe_embeddings.FormatError, match="changed.h5") as error:
            file.verify()
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("attribute", "value", "message"),
    [
        ("format", "other", "expected format probe-embeddings, got 'other'"),
        ("schema_version", "2", "expected schema version '1', got '2'"),
        ("complete", "false", "is marked as not complete"),
    ],
)
def test_unknown_schemas_are_refused(tmp_path, attribute, value, message):
    path = changed(tmp_path, lambda file: file.attrs.__setitem__(attribute, value))
    with pytest.raises(probe_embeddings.FormatError, match=message):
        probe_embeddings.open(path)


def test_links_to_other_files_are_refused(tmp_path):
    def link(file):
        del file["image/embedding"]
        file["image/embedding"] = h5py.ExternalLink(str(SMALL), "/image/embedding")

    with probe_embeddings.open(changed(tmp_path, link)) as file:
        with pytest.raises(probe_embeddings.FormatError, match="is a soft or external link"):
            file.vectors()


def virtual(folder, source, rows=5, column=False):
    """The small file with /image/embedding (or the ids) read from `source`."""

    def change(file):
        name = "items/id" if column else "image/embedding"
        dtype, shape = file[name].dtype, (5,) if column else (5, 512)
        layout = h5py.VirtualLayout(shape, dtype)
        layout[:rows] = h5py.VirtualSource(source, name, (rows, *shape[1:]), dtype)
        del file[name]
        file.create_virtual_dataset(name, layout)

    return changed(folder, change)


def test_virtual_files_give_what_their_parts_hold(tmp_path):
    shutil.copy(SMALL, tmp_path / "part.h5")
    with probe_embeddings.open(virtual(tmp_path, "part.h5")) as file, probe_embeddings.open(SMALL) as small:
        file.verify()
        np.testing.assert_array_equal(file.vectors(), small.vectors())


def test_virtual_files_outside_their_folder_need_permission(tmp_path):
    (tmp_path / "inner").mkdir()
    shutil.copy(SMALL, tmp_path / "part.h5")
    (tmp_path / "inner/link.h5").symlink_to(tmp_path / "part.h5")
    for source in ("../part.h5", str(tmp_path / "part.h5"), "link.h5"):
        path = virtual(tmp_path / "inner", source)
        with probe_embeddings.open(path) as file:
            with pytest.raises(probe_embeddings.FormatError, match="/image/embedding: its part '.*' lies outside"):
                file.vectors()
        with probe_embeddings.open(path, allow_outside=True) as file:
            assert file.vectors().shape == (5, 512)


@pytest.mark.parametrize(
    ("prepare", "message"),
    [
        (lambda folder: virtual(folder, "none.h5"), "its part 'none.h5' is missing"),
        (lambda folder: virtual(folder, "part.h5", rows=4), "its part 'part.h5' holds something else"),
        (lambda folder: virtual(folder, "part.h5", column=True), "/items/id: is a virtual dataset, which is refused"),
    ],
)
def test_virtual_files_are_no_zeros(tmp_path, prepare, message):
    shutil.copy(SMALL, tmp_path / "part.h5")
    with pytest.raises(probe_embeddings.FormatError) as error:
        with probe_embeddings.open(prepare(tmp_path)) as file:
            file.verify()
    assert message in str(error.value)


def test_columns_and_files_that_are_not_there(tmp_path):
    with probe_embeddings.open(SMALL) as file, pytest.raises(KeyError, match="colour: expected one of id, path"):
        file.column("colour")
    with pytest.raises(OSError):
        probe_embeddings.open(tmp_path / "none.h5")
