"""scikit-learn estimators, one file per published method; each is registered here and imported when first used."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

import lazy_loader

from ..registry import Registry

if TYPE_CHECKING:
    from ._benefit import spectral_benefit as spectral_benefit
    from .base import GraphEstimator as GraphEstimator
    from .base import PriorEffect as PriorEffect
    from .consensus import ConsensusGL as ConsensusGL
    from .glgp import GLGP as GLGP
    from .graphical_lasso import GraphicalLassoGL as GraphicalLassoGL
    from .linear import LinearGLGP as LinearGLGP
    from .log_degree import LogDegreeGL as LogDegreeGL
    from .modular import ModularGL as ModularGL
    from .path import LambdaPath as LambdaPath
    from .quad_game import QuadGameGL as QuadGameGL
    from .sig_rep import GLSigRep as GLSigRep
    from .smooth import SmoothGL as SmoothGL
    from .spec_temp import SpecTemp as SpecTemp
    from .tie_model import TieModel as TieModel

# From the name that the command line and compare() know to the module and the class.
_METHODS = {
    "consensus": ("consensus", "ConsensusGL"),
    "smooth": ("smooth", "SmoothGL"),
    "linear": ("linear", "LinearGLGP"),
    "glgp": ("glgp", "GLGP"),
    "spectemp": ("spec_temp", "SpecTemp"),
    "quadgame": ("quad_game", "QuadGameGL"),
    "sigrep": ("sig_rep", "GLSigRep"),
    "logdegree": ("log_degree", "LogDegreeGL"),
    "modular": ("modular", "ModularGL"),
    "glasso": ("graphical_lasso", "GraphicalLassoGL"),
}
METHODS: Registry[type[GraphEstimator]] = Registry(
    "method", later={name: f"{__name__}.{module}:{kind}" for name, (module, kind) in _METHODS.items()}
)
# Methods of the command line: these, and TieModel, which needs answers about ties and not signals alone.
LEARNERS: Mapping[str, type[GraphEstimator]] = ChainMap(
    cast(Any, Registry("method", later={"ties": f"{__name__}.tie_model:TieModel"})), cast(Any, METHODS)
)
__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submod_attrs={
        **{module: [kind] for module, kind in _METHODS.values()},
        "base": ["GraphEstimator", "PriorEffect"],
        "path": ["LambdaPath"],
        "tie_model": ["TieModel"],
        "_benefit": ["spectral_benefit"],
    },
)
__all__ += ["LEARNERS", "METHODS"]
