"""Safety: what is checked before, during and after an answer.

The core has no Django in it and never does I/O while it classifies:

- `taxonomy`    the hazard categories and their map to OpenAI's moderation categories
- `types`       messages in, decisions and verdicts out
- `policy`      thresholds and actions by category; presets
- `normalise`   one spelling for each word, whatever disguise it came in
- `decode`      base64, hex, ROT13 and other encodings seen through
- `lexical`     rules over Aho-Corasick hits (`data/rules.toml`)
- `pre`         PreClassifier: a conversation, before an engine sees it
- `post`        PostClassifier: an answer, while it is generated
- `moderation`  the result object of `/v1/moderations`

`audit/` is the Django app: stored decisions, policies in the admin, the review queue.
"""
