"""Files with bytes changed, cut out, doubled or put in: read, or refused with a message, never an error of ours."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from .targets import SLOW, TARGETS, run_target, seeds

pytestmark = pytest.mark.filterwarnings("ignore")
# Bytes with a meaning for parsers: numbers at their limits, separators, marks of other formats.
TELLING = [
    b"\0",
    b"\xff",
    b"\n",
    b"\r",
    b'"',
    b",",
    b";",
    b"\t",
    b"=",
    b"1e999",
    b"nan",
    b"-",
    b"[" * 2000,
    b"{",
    b"</",
]
EDITS = st.tuples(
    st.floats(0, 1), st.integers(0, 40), st.one_of(st.sampled_from([b"", *TELLING]), st.binary(max_size=8))
)


@pytest.mark.parametrize("target", TARGETS)
def test_the_corpus(target, tmp_path):
    for seed in seeds(target):
        run_target(target, seed.read_bytes(), tmp_path)


@pytest.mark.parametrize("target", TARGETS)
def test_changed_bytes(target, tmp_path):
    files = [file.read_bytes() for file in seeds(target)]

    @given(st.sampled_from(files), st.lists(EDITS, max_size=4))
    @settings(
        max_examples=settings.default.max_examples // (40 if target in SLOW else 4),
        suppress_health_check=list(HealthCheck),
        print_blob=True,
    )
    def check(content, edits):
        for place, length, put in edits:
            start = int(place * len(content))
            content = content[:start] + put + content[start + length :]
        run_target(target, content, tmp_path)

    check()


@given(st.binary(max_size=200), st.sampled_from(sorted({*TARGETS} - SLOW)))
def test_any_bytes(tmp_path_factory, content, target):
    run_target(target, content, tmp_path_factory.getbasetemp())
