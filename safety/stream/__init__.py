"""An answer while it is generated.

- `post`       PostClassifier: text in, text that has passed out
- `watch`      rules and scores over the words as they come, and from where text must be held
- `ciphered`   ROT13 inside an answer
- `redactor`   personal data replaced
"""
