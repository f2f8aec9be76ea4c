"""One model on several devices, through torch.distributed (NCCL on GPUs, gloo on CPUs).

    group.py      the ranks that share a model, and what of it each has
    shard.py      a `WeightReader` that gives one rank's part of every tensor
    world.py      what the ranks tell each other; `inference/model/layers/ranks.py` joins the parts
    pipeline.py   layers on several ranks, batches in flight between them
    graphs.py     decode steps of all ranks, recorded as CUDA graphs
    leader.py     rank 0 runs the engine; the others compute what it computes
    launch.py     starts the ranks, or joins those that torchrun started

Tensor parallel (Shoeybi et al. 2019): queries, keys, values, gate and up are split by output,
the products after them by input, so that a layer needs two sums over the ranks, one for
attention and one for the MLP. Embedding and logits are split by vocabulary. Experts of a
mixture are dealt out whole (expert parallel); the sum after the MLP is the same.
"""
