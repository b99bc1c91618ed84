"""Draw a survey of 60 households in three hamlets, and write it to survey.csv."""

import numpy as np
import pandas as pd

random = np.random.default_rng(0)
hamlet = np.repeat(["north", "south", "west"], 20)
habits = pd.DataFrame(
    {
        "roof": ["tile", "thatch", "stone"],
        "water": ["well", "tap", "pump"],
        "rooms": [2, 3, 5],
        "land": [0.5, 1.0, 2.0],
    },
    index=["north", "south", "west"],
)
survey = habits.loc[hamlet].reset_index(drop=True)
for question in survey:  # three households in ten do not follow their hamlet's habit
    different = random.random(60) < 0.3
    survey.loc[different, question] = random.permutation(survey[question])[different]
survey["land"] = (survey["land"] * random.lognormal(sigma=0.3, size=60)).round(3)
survey["standing"] = 1 + (random.random(60) < 0.1)  # 2 for the few who are known to lead
survey.insert(0, "household", [f"{place}-{k % 20 + 1}" for k, place in enumerate(hamlet)])
survey.to_csv("survey.csv", index=False)
