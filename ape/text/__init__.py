"""What is known about text: tokens, sentences, languages, word classes, numerals and repetition."""
