"""The workshop of the head for untrusted content (`safety.score.orders`).

- `texts`   what it learns from: our own lines and passages of an encyclopaedia
- `grammar` orders to a model and requests to people, out of parts in eight languages
- `pages`   the honest pages among them, out of the packages that are installed here
- `fit`     `python -m safety.training.untrusted.fit` makes `safety/data/orders.npz`
- `tool_texts`   what servers say of their tools, honest and hostile
- `__main__`   `python -m safety.training.untrusted`: what becomes of content that was held out
"""
