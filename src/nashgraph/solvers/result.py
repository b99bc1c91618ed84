"""What every solver of the GLGP problem returns: one frozen type, with its certificate."""

from __future__ import annotations

from dataclasses import dataclass

from ..certificate import Certificate
from ..couplings import Coupling
from ..validation import Array
from .problem import Play


@dataclass(frozen=True, eq=False)
class Result:
    """A graph learned by a solver, with what certifies it.

    Attributes
    ----------
    coupling : the graph W
    play : Play, the actions y, adjoint u and welfare g(y) of W
    objective : float, J(W) - lam g(y)
    passes : int, how many times all pairs of nodes were gone through
    certificate : Certificate
        Its measure is the scale-free ||W - best_response(W)||_F / ||W||_F: zero exactly at stationary points.
    """

    coupling: Coupling
    play: Play
    objective: float
    passes: int
    certificate: Certificate

    @property
    def welfare(self) -> float:
        """The welfare g(y)."""
        return self.play.welfare

    @property
    def equilibrium(self) -> Array:
        """The actions y."""
        return self.play.actions

    @property
    def adjoint(self) -> Array:
        """The adjoint u."""
        return self.play.adjoint

    @property
    def converged(self) -> bool:
        """Whether the stationarity asked for was reached."""
        return self.certificate.converged

    @property
    def stationarity(self) -> float:
        """The certificate's value."""
        return self.certificate.value

    @property
    def iterations(self) -> int:
        """How many iterations there were."""
        return self.certificate.iterations
