"""From logits to tokens: parameters, the vectorised sampler, counter-based randomness."""
