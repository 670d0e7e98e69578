"""LanceDB, an embedded vector database: loaded batch by batch from our Parquet, it finds the
same five neighbours as `probe match` for every query."""

import lancedb
import numpy as np
import pyarrow.parquet as pq
import pytest
from conftest import run_match


def close(found, wanted, cosines):
    """Equal lists; neighbours whose cosines differ by less than float32 resolves may swap."""
    for ours, theirs in zip(wanted, found, strict=True):
        if ours != theirs and abs(cosines[ours] - cosines[theirs]) > 2e-7:
            return False
    return True


@pytest.mark.parametrize("of", ["embedding", "mean-tokens"])
def test_lancedb_finds_what_probe_match_finds(demo, parquet, tmp_path, of):
    column = of.replace("-", "_")
    database = lancedb.connect(tmp_path / "lance")
    file = pq.ParquetFile(parquet)
    batches = file.iter_batches(columns=["id", "condition", "category", column])
    table = database.create_table("items", batches, schema=pq.read_schema(parquet).remove_metadata().empty_table().select(["id", "condition", "category", column]).schema)  # fmt: skip
    assert table.count_rows() == file.metadata.num_rows
    items = {row["id"]: row[column] for row in table.to_arrow().to_pylist()}
    wanted = run_match(demo[0], "--of", of, home=demo[1])
    assert len(wanted) == 222  # every original of the demo
    same = 0
    for query, neighbors in wanted.items():
        rows = (
            table.search(np.array(items[query], np.float32), vector_column_name=column)
            .distance_type("cosine")
            .where("condition = 'original'", prefilter=True)
            .limit(6)
            .to_list()
        )
        found = [row["id"] for row in rows if row["id"] != query][:5]  # the query itself left out
        expected = [name for name, _ in neighbors]
        cosines = {row["id"]: 1 - row["_distance"] for row in rows}
        same += found == expected
        assert found == expected or close(found, expected, cosines), (query, neighbors, rows)
        np.testing.assert_allclose([cosines[name] for name in found], [c for _, c in neighbors], atol=2e-6)
    print(f"{of}: {same} of {len(wanted)} lists identical")
    assert same >= len(wanted) - 2
