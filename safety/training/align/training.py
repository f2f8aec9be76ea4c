"""Direct preference optimisation of a LoRA adapter, with trl and peft.

Source: Rafailov et al. 2023, "Direct Preference Optimization"; Hu et al. 2021, "LoRA". The
reference policy is the model without its adapter, so no second copy is held.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from datasets import Dataset
from peft import LoraConfig
from trl import DPOConfig, DPOTrainer

from safety.training.align.examples import Example
from safety.training.align.model import Model, Tokenizer


@dataclass(frozen=True, slots=True)
class Settings:
    """What a run may vary; the defaults finish in minutes on two cores.

    Attributes:
        beta: how dearly leaving the reference is paid for.
        sft_weight: of the chosen answer's likelihood in the loss: without it a margin may grow
            while both answers become less likely.
        max_tokens: of a prompt with its answer; longer ones are cut.
    """

    steps: int = 12
    batch: int = 4
    learning_rate: float = 5e-4
    beta: float = 0.1
    sft_weight: float = 0.1
    rank: int = 16
    max_tokens: int = 96
    seed: int = 7


def train(
    model: Model, tokenizer: Tokenizer, examples: Sequence[Example], settings: Settings, work: Path
) -> Model:
    """`model` with a trained adapter around it; its own weights stay as they were.

    Args:
        work: a directory for what the trainer writes meanwhile.
    """
    trainer = DPOTrainer(
        model=model,
        args=DPOConfig(
            output_dir=str(work),
            max_steps=settings.steps,
            per_device_train_batch_size=settings.batch,
            learning_rate=settings.learning_rate,
            warmup_steps=max(1, settings.steps // 10),
            lr_scheduler_type="cosine",
            beta=settings.beta,
            loss_type=["sigmoid", "sft"],
            loss_weights=[1.0, settings.sft_weight],
            max_length=settings.max_tokens,
            seed=settings.seed,
            use_cpu=True,
            bf16=False,
            logging_steps=5,
            save_strategy="no",
            report_to=[],
            disable_tqdm=True,
        ),
        train_dataset=Dataset.from_list([_row(example) for example in examples]),
        processing_class=tokenizer,
        peft_config=LoraConfig(
            r=settings.rank,
            lora_alpha=2 * settings.rank,
            lora_dropout=0.0,
            target_modules="all-linear",
            task_type="CAUSAL_LM",
        ),
    )
    trainer.train()
    return trainer.model


def _row(example: Example) -> dict[str, Any]:
    return {
        "prompt": list(example.prompt),
        "chosen": [{"role": "assistant", "content": example.chosen}],
        "rejected": [{"role": "assistant", "content": example.rejected}],
    }
