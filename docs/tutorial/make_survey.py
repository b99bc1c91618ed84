"""Draw the survey that is shipped as examples/survey.csv: ``python docs/tutorial/make_survey.py examples/survey.csv``.

Households live on a map, and neighbours live alike: an answer follows a habit that varies slowly over the map,
and a whim of the household's own.
"""

import sys

import numpy as np
import pandas as pd

WHIM, REACH, GAPS = 0.4, 0.6, 0.03
VILLAGES = ["Alur", "Belur", "Cholur"]
random = np.random.default_rng(3)
village = np.repeat(VILLAGES, [22, 20, 18])
place = random.random((len(village), 2)) + 1.5 * np.array([VILLAGES.index(name) for name in village])[:, None]
apart = np.square(place[:, None] - place).sum(axis=2)
habits = np.linalg.cholesky(np.exp(-apart / (2 * REACH**2)) + 1e-6 * np.eye(len(village)))


def answer() -> np.ndarray:
    """Return every household's answer to a question, of about mean 0 and spread 1."""
    mixed = habits @ random.normal(size=len(village)) + WHIM * random.normal(size=len(village))
    return (mixed - mixed.mean()) / mixed.std()


def chosen(*words: str) -> np.ndarray:
    """Return answers in words."""
    return np.array(words)[np.argmax([answer() for _ in words], axis=0)]


def agreed() -> np.ndarray:
    """Return answers from 1 to 5."""
    return np.clip(np.round(3 + 1.2 * answer()), 1, 5).astype(int)


survey = pd.DataFrame(
    {
        "household": 1001 + np.arange(len(village)),
        "village": village,
        "roof": chosen("tile", "thatch", "sheet"),
        "water": chosen("well", "tap", "pump"),
        "rooms": np.clip(np.round(3 + 1.3 * answer()), 1, 7).astype(int),
        "land": np.round(np.exp(0.2 + 0.7 * answer()), 1),
        "cattle": np.where(answer() > 0, "yes", "no"),
        "phone": np.where(answer() > -0.4, "yes", "no"),
        "savings_group": np.where(answer() > 0.3, "yes", "no"),
        "trust": agreed(),
        "meetings": agreed(),
        "market": agreed(),
        "temple": agreed(),
        "standing": 1 + np.digitize(answer(), [0.9, 1.6]),  # 1 for most, 3 for the few that everybody knows
    }
)
answers = survey.columns[2:-1]
survey[answers] = survey[answers].astype(object).mask(random.random((len(survey), len(answers))) < GAPS)
survey.to_csv(sys.argv[1], index=False)
