"""Sizes of Parquet files come from their pages, whatever the footer says."""

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

from nashgraph.io import TableError, TableOptions, read_table
from nashgraph.io.parquet_sizes import unpacked_size


def varint(number, length=None):
    """A whole number as in the footer of a Parquet file, with as many bytes as asked for."""
    number, digits = 2 * number, []
    while number or len(digits) < (length or 1):
        digits.append(number & 127 | 128)
        number >>= 7
    return bytes([*digits[:-1], digits[-1] & 127])


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("encoding", ["PLAIN", "PLAIN_DICTIONARY"])
def test_the_sizes_in_the_footer_of_a_parquet_file_are_not_believed(tmp_path, encoding, version):
    path, coded = tmp_path / "t.parquet", encoding == "PLAIN_DICTIONARY"
    table = pyarrow.table({"a": ["x" * 3_000_000, "y", None]})
    pyarrow.parquet.write_table(
        table, path, compression="zstd", data_page_version=version, use_dictionary=coded, write_statistics=False
    )
    size = pyarrow.parquet.ParquetFile(path).metadata.row_group(0).total_byte_size
    said = varint(size)
    assert path.read_bytes().count(said) >= 2  # of the column, and of the rows
    path.write_bytes(path.read_bytes().replace(said, varint(100, len(said))))
    about = pyarrow.parquet.ParquetFile(path).metadata.row_group(0)
    assert about.total_byte_size == about.column(0).total_uncompressed_size == 100
    with pytest.raises(TableError, match=r"t\.parquet is too large: it has 3 MB"):
        read_table(path, TableOptions(max_cells=1000))
    assert read_table(path)[0].shape == (3, 1)


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("compression", ["none", "snappy", "gzip", "zstd", "brotli", "lz4"])
@pytest.mark.parametrize("coded", [True, False])
def test_the_pages_of_a_parquet_file_have_the_sizes_in_its_footer(tmp_path, version, compression, coded):
    path, rows = tmp_path / "t.parquet", 3000
    columns = {
        "numbers": np.arange(rows) / 7,
        "texts": [f"text {k}" for k in range(rows)],
        "gaps": pyarrow.array([None] * rows, pyarrow.string()),
        "marks": [k % 3 == 0 for k in range(rows)],
        "lists": [[k, k + 1] for k in range(rows)],
    }
    how = {"compression": compression, "data_page_version": version, "use_dictionary": coded, "data_page_size": 500}
    pyarrow.parquet.write_table(pyarrow.table(columns), path, row_group_size=1000, **how)
    about = pyarrow.parquet.ParquetFile(path).metadata
    with path.open("rb") as raw:
        for chunk in (about.row_group(k).column(j) for k in range(3) for j in range(about.num_columns)):
            size = unpacked_size(raw, chunk)
            headers = 60 * (1 + chunk.num_values // 10)
            assert chunk.total_uncompressed_size - headers < size
            assert size < max(chunk.total_uncompressed_size, chunk.total_compressed_size) + headers
