"""The ledger of a book: its names, terms and genders, and the repairs that follow from them."""
