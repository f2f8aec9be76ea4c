"""From logits to tokens: grammars, the vectorised sampler, counter-based randomness."""
