"""Jobs: whole books, stored in a database so that no finished work is lost or repeated."""
