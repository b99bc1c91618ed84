from .by_name import PRIORS
from .dynamics import Dynamics, DynamicsState, Epidemic, FixedPointPrior
from .evidence import PriorEvidence, prior_evidence
from .game import Activities, GamePrior
from .implicit import ImplicitPrior
from .opinions import GraphFilter, Opinions
from .prior import CustomPrior, LinearPrior, Prior, State, SumOfPriors
from .resilience import Resilience, TieDeletion, random_deletions, targeted_deletions

__all__ = [
    "PRIORS",
    "Activities",
    "CustomPrior",
    "Dynamics",
    "DynamicsState",
    "Epidemic",
    "FixedPointPrior",
    "GamePrior",
    "GraphFilter",
    "ImplicitPrior",
    "LinearPrior",
    "Opinions",
    "Prior",
    "PriorEvidence",
    "Resilience",
    "State",
    "SumOfPriors",
    "TieDeletion",
    "prior_evidence",
    "random_deletions",
    "targeted_deletions",
]
