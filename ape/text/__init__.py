"""Text analysis: tokens, sentences, languages, word classes, numerals and repetition."""
