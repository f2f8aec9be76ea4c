"""From characters to words: the text that a disguised or encoded text stands for.

- `normalise`     cuts a text into folded words, each with its place in the raw text
- `confusables`   look-alikes of Latin letters, and signs written for letters
- `decode`        views of a text: itself, and what its encodings and ciphers say
- `encoded`       encoded blocks of an answer that streams, cut out at their ends
"""
