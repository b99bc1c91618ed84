"""Draw the village of the tutorial: ``python docs/tutorial/make_village.py examples`` writes village.csv and ties.csv.

Households visit households that share traits with them more often, and some households are visited by many. 60 of 80
are asked how many households they visit, and how many of these have each trait. They forget one visit in ten.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd

HOUSEHOLDS, ASKED, TIES, FORGOTTEN = 80, 60, 7, 0.1
TRAITS = ["tap", "cattle", "shop", "temple", "savings", "weaver", "tractor", "river"]
random = np.random.default_rng(5)
names = [f"h{number}" for number in range(1, HOUSEHOLDS + 1)]
traits = random.random((HOUSEHOLDS, len(TRAITS))) < 0.4
likeness = (traits[:, None] == traits[None]).sum(axis=2)
standing = random.normal(scale=0.5, size=HOUSEHOLDS)
strength = np.exp(0.9 * likeness + standing[:, None] + standing)
np.fill_diagonal(strength, 0.0)
chance = 1 - np.exp(-strength * TIES * HOUSEHOLDS / strength.sum())
above = np.triu(random.random(chance.shape) < chance, 1)
ties = above | above.T

answered = np.sort(random.choice(HOUSEHOLDS, ASKED, replace=False))
remembered = ties[answered] & (random.random((ASKED, HOUSEHOLDS)) > FORGOTTEN)
survey = pd.DataFrame(traits.astype(int), index=pd.Index(names, name="household"), columns=TRAITS)
survey["visits"] = pd.Series(remembered.sum(axis=1), index=survey.index[answered]).astype("Int64")
for number, trait in enumerate(TRAITS):
    counts = (remembered & traits[:, number]).sum(axis=1)
    survey[f"visits_{trait}"] = pd.Series(counts, index=survey.index[answered]).astype("Int64")
survey.to_csv(Path(sys.argv[1]) / "village.csv")
pairs = [(names[one], names[other]) for one, other in zip(*np.nonzero(above), strict=True)]
pd.DataFrame(pairs, columns=["source", "target"]).to_csv(Path(sys.argv[1]) / "ties.csv", index=False)
