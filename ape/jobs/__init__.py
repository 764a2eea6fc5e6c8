"""Jobs: whole books at work, kept in a database so that nothing finished is lost and nothing is done twice."""
