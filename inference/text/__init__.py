"""Text to tokens and back: tokenizer, chat template, streaming detokenizer, stop strings."""
