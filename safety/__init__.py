"""Safety: what is checked before, during and after an answer.

`safety.checks` has the two checks, `PreClassifier` for a conversation before an engine sees it and
`PostClassifier` for an answer while it is generated. A text passes the rooms in this order; each
imports only those above it in this list (import-linter holds that), and none does I/O or knows
Django:

- `types`, `taxonomy`, `health`   messages, decisions and verdicts; the hazard categories and their
  map to OpenAI's; which layers failed lately
- `read/`      a text as words: one spelling for each word whatever disguise it came in, and what
  stands inside encodings and ciphers
- `score/`     words to scores by category: rules, the trained classifier, personal data;
  `score.detect` is the cascade over all of them, `data/` holds rules and weights
- `judge/`     scores to a decision: policies, the prompt check and its timeout, images, the review
  pass, `/v1/moderations`, the guard model, untrusted content
- `stream/`    an answer as it is generated: what must be held back, what may be sent

Beside them, `audit/` is the Django app: stored decisions, policies in the admin, the review queue.
`training/` is the workshop that makes and measures what is in `data/`: nothing that serves imports
it, and no image holds it.
"""
