"""scikit-learn estimators, one file per published method."""

from ._benefit import spectral_benefit
from .base import GraphEstimator
from .glgp import GLGP
from .graphical_lasso import GraphicalLassoGL
from .linear import LinearGLGP
from .log_degree import LogDegreeGL
from .modular import ModularGL
from .path import LambdaPath
from .quad_game import QuadGameGL
from .sig_rep import GLSigRep
from .smooth import SmoothGL
from .spec_temp import SpecTemp

__all__ = [
    "GLGP",
    "GLSigRep",
    "GraphEstimator",
    "GraphicalLassoGL",
    "LambdaPath",
    "LinearGLGP",
    "LogDegreeGL",
    "ModularGL",
    "QuadGameGL",
    "SmoothGL",
    "SpecTemp",
    "spectral_benefit",
]
