"""Cai & Xiong 2020: pronouns, connectives and ellipsis whose Chinese depends on the preceding sentence."""
