"""Mark-up cut into texts and put back: every byte that no new text touches stays as it was."""
