"""HTML reports: the base page, plot geometry and number formats of all pages, and the report of a book."""
