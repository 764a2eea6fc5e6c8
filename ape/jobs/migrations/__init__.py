"""How the tables came to be what they are, one revision a file. None is ever changed once it was released."""
