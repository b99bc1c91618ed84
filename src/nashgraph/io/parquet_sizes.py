"""How large a column of a Parquet file is unpacked, told before it is unpacked.

The footer of a file has these sizes, but Arrow does not check them: a file of 10 kB that says 100 bytes may take
gigabytes. Arrow unpacks no page beyond the size in the page's own header, and gives no access to these headers. They
are written in Thrift's compact protocol: fields by number and type, numbers with seven bits a byte.
"""

from __future__ import annotations

from typing import IO, Any

TRUE, FALSE, I32, I64, BINARY, STRUCT = 1, 2, 5, 6, 8, 12  # types in Thrift


def unpacked_size(raw: IO[bytes], chunk: Any) -> int:
    """Return the unpacked size of a column's part by the headers of its pages."""
    size, seen, place, first = 0, 0, chunk.data_page_offset, chunk.dictionary_page_offset or 0
    place = first if 0 < first < place else place  # first and last page are found as in Arrow
    while seen < chunk.num_values:
        raw.seek(place)
        header = _page_header(raw)
        kind, packed = header[I32, 1], max(0, header[I32, 3])
        size, place = size + max(packed, header[I32, 2]), raw.tell() + packed
        seen += header[STRUCT, {0: 5, 3: 8}[kind]][I32, 1] if kind in (0, 3) else 0  # other types have no cells
    return size


def _page_header(raw: IO[bytes]) -> dict[tuple[int, int], Any]:
    """Read a structure of Thrift's compact protocol, by type and field, with the types that page headers have."""
    fields: dict[tuple[int, int], Any] = {}
    field = 0
    while kind := (first := raw.read(1)[0]) & 15:
        field += first >> 4
        if first < 16 or field > 99 or kind not in (TRUE, FALSE, I32, I64, BINARY, STRUCT):
            raise ValueError("not the header of a page")
        if kind == STRUCT:
            fields[kind, field] = _page_header(raw)
        elif kind not in (TRUE, FALSE):
            digits = [raw.read(1)[0]]
            while digits[-1] > 127 and len(digits) < 10:
                digits.append(raw.read(1)[0])
            number = sum((digit & 127) << 7 * k for k, digit in enumerate(digits))
            fields[kind, field] = (number & 0xFFFFFFFF) >> 1 ^ -(number & 1)
            raw.seek(number if kind == BINARY else 0, 1)
    return fields
