"""Published numbers of the DiP paper by language pair and system: Tables 6, 7 and 9."""

from __future__ import annotations

from collections.abc import Mapping

from eval.suites.dip.mined_set import MinedPhenomenon

LANGUAGE_PAIRS = ("de-en", "ru-en", "zh-en")

_CONSISTENCY: Mapping[str, Mapping[str, tuple[float, ...]]] = {
    "de-en": {
        "CONCAT": (42.83, 34.30), "TGTCON": (42.37, 32.36), "SAN": (41.52, 30.90),
        "ANAPH": (40.72, 30.90), "S2S": (40.00, 32.03), "HAN": (38.41, 29.77),
    },
    "ru-en": {
        "TGTCON": (26.36, 11.88), "ANAPH": (23.99, 12.16), "CONCAT": (23.81, 12.29),
        "SAN": (19.22, 9.42), "S2S": (18.99, 9.29), "HAN": (17.44, 8.19),
    },
    "zh-en": {
        "ANAPH": (30.94, 17.48), "TGTCON": (29.84, 16.02), "S2S": (28.27, 18.21),
        "CONCAT": (28.17, 16.65), "SAN": (26.33, 13.42),
    },
}  # fmt: skip
_CONNECTIVES: Mapping[str, Mapping[str, tuple[float, ...]]] = {
    "de-en": {
        "ANAPH": (49.42, 75.58), "SAN": (48.25, 72.67), "TGTCON": (48.25, 72.09),
        "S2S": (47.67, 73.84), "CONCAT": (44.77, 70.93), "HAN": (44.18, 69.76),
    },
    "ru-en": {
        "ANAPH": (40.81, 68.70), "S2S": (37.41, 73.47), "TGTCON": (36.05, 63.95),
        "SAN": (35.37, 60.54), "CONCAT": (32.65, 70.06), "HAN": (31.29, 55.10),
    },
    "zh-en": {
        "S2S": (55.24, 80.66), "TGTCON": (52.48, 82.04), "SAN": (49.17, 79.28),
        "ANAPH": (48.62, 77.90), "CONCAT": (48.06, 76.79),
    },
}  # fmt: skip
_PRONOUNS = {
    "de-en": {"CONCAT": 112.583, "S2S": 113.783, "SAN": 117.838, "HAN": 118.067, "ANAPH": 129.662, "TGTCON": 131.699},
    "ru-en": {"HAN": 160.411, "ANAPH": 164.603, "CONCAT": 168.092, "SAN": 176.143, "S2S": 181.887, "TGTCON": 183.969},
    "zh-en": {"ANAPH": 43.930, "CONCAT": 49.092, "S2S": 64.176, "TGTCON": 111.683, "SAN": 123.908},
}

PUBLISHED: Mapping[MinedPhenomenon, Mapping[str, Mapping[str, tuple[float | None, ...]]]] = {
    "consistency": _CONSISTENCY,
    "connectives": _CONNECTIVES,
    # Scores of a trained model: its preference for the references, summed over the set.
    "pronouns": {
        pair: {name: (None, None, None, score) for name, score in scores.items()} for pair, scores in _PRONOUNS.items()
    },
}
"""%Con and %Full; Acc and ANY; and for pronouns the score of their model, the last column."""
