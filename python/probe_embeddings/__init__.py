"""Reads the HDF5 embedding files of `probe` (probe/store/FORMAT.md, schema 1).

>>> import probe_embeddings
>>> file = probe_embeddings.open("tests/data/embeddings/small.h5")
>>> file.verify()
>>> len(file), file.provenance["encoder"], file.prompts
(5, 'demo', ['a photo of a banana.', 'a photo of a kiwi.'])
>>> file.vectors("mean_tokens", category="kiwi").shape
(3, 1280)
>>> file.close()
"""

from .file import EmbeddingFile, FormatError, open

__all__ = ["EmbeddingFile", "FormatError", "open"]
__version__ = "0.1.0"
