"""Cai & Xiong 2020: pronouns, connectives and ellipsis in Chinese that only the sentence before settles."""
