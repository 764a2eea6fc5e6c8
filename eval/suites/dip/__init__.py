"""Test sets mined as in DiP: passages at which real systems failed."""
