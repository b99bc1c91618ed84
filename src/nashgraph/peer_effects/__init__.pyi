from .fit import fit_game
from .reduced_form import NotIdentifiedError
from .result import GameFit

__all__ = ["GameFit", "NotIdentifiedError", "fit_game"]
