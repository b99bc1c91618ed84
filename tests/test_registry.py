"""Names are registered once, and their objects are imported when asked for."""

import pytest

from nashgraph.estimators import METHODS
from nashgraph.estimators.glgp import GLGP
from nashgraph.registry import Registry


def test_a_name_is_taken_once_and_can_be_given_back():
    shapes = Registry("shape")
    assert shapes.register("dot")(3) == 3
    with pytest.raises(ValueError, match="the shape 'dot' is registered already"):
        shapes.register("dot")
    shapes.unregister("dot")
    assert list(shapes) == []


def test_methods_are_their_classes_whenever_they_are_asked_for():
    assert METHODS["glgp"] is GLGP
    assert len(METHODS) == len({METHODS[name] for name in METHODS})
