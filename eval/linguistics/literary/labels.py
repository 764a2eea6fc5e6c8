"""The labels of the annotator's heads: Penn tags, names, and kinds of mentions."""

from __future__ import annotations

from eval.linguistics.bwb.tags import ENTITY_TYPES

TAGS = (
    "$ '' , -LRB- -RRB- . : ADD AFX CC CD DT EX FW HYPH IN JJ JJR JJS LS MD NFP NN NNP NNPS NNS PDT POS PRP PRP$ RB RBR"
    " RBS RP SYM TO UH VB VBD VBG VBN VBP VBZ WDT WP WP$ WRB XX ``"
).split()
NAME_LABELS = ("O", *(f"{mark}-{label}" for label in ENTITY_TYPES for mark in "BI"))
KINDS = ("pronoun", *(f"{kind} {label}" for kind in ("name", "common") for label in ENTITY_TYPES))
# The longest mention, in words: 99.9% of LitBank's are shorter.
MAX_MENTION = 40
