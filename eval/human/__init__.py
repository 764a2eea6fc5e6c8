"""Blind A/B tests: trial design, rater pages, votes and their analysis."""
