"""Files in and out: a user's table becomes signals, and a learned graph becomes files."""

from .errors import TableError
from .graphs import (
    GRAPH_FILES,
    read_edges,
    read_members,
    read_nodes,
    write_edges,
    write_graphml,
    write_members,
    write_node_link,
    write_nodes,
)
from .model_record import (
    FileRecord,
    Job,
    ModelRecord,
    file_record,
    library_versions,
    read_record,
    record_to_json,
    sha256_of,
)
from .names import group_names, of_group
from .options import TableOptions
from .read import read_table
from .recognize import TieColumn, tie_columns
from .signals import Signals, load_signals, signals_of
from .ties import Group, NoTiesError, has_column, read_known, read_network, read_node_numbers, read_truth

__all__ = [
    "GRAPH_FILES",
    "FileRecord",
    "Group",
    "Job",
    "ModelRecord",
    "NoTiesError",
    "Signals",
    "TableError",
    "TableOptions",
    "TieColumn",
    "file_record",
    "group_names",
    "has_column",
    "library_versions",
    "load_signals",
    "of_group",
    "read_edges",
    "read_known",
    "read_members",
    "read_network",
    "read_node_numbers",
    "read_nodes",
    "read_record",
    "read_table",
    "read_truth",
    "record_to_json",
    "sha256_of",
    "signals_of",
    "tie_columns",
    "write_edges",
    "write_graphml",
    "write_members",
    "write_node_link",
    "write_nodes",
]
