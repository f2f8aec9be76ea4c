"""From words to scores by category.

- `rules`          phrases that must stand close together (`data/rules.toml`), in one linear pass
- `features`, `grams`, `encoder`   words as the trained layers take them
- `compiled_encoder`, `kernels/`, `onnx_file`   the encoder's layers in C++, its file of weights
- `classifier`     prompts: harm, attack, category
- `answer_model`   answers: a cheap score for each word, and the verifier behind it
- `detect`         `examine`: all layers over all views of one text, never raising
- `personal_data`  cards, keys, addresses: where they stand
- `artefacts`      the trained files, checked against their card
"""
