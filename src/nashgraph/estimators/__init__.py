"""scikit-learn estimators, one file per published method."""

from ._benefit import spectral_benefit
from .base import GraphEstimator
from .glgp import GLGP
from .linear import LinearGLGP
from .path import glgp_path
from .smooth import SmoothGL

__all__ = ["GLGP", "GraphEstimator", "LinearGLGP", "SmoothGL", "glgp_path", "spectral_benefit"]
