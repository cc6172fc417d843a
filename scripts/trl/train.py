"""Trains TRL on exported files as they are, and compares losses.

    python train.py MODEL WORK OURS

WORK has the exports under the names of their formats; OURS is JSON with rows, tokens and loss of the engine.
"""

import json
import math
import sys
from pathlib import Path

import torch
from datasets import load_dataset
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import DPOConfig, DPOTrainer, SFTConfig, SFTTrainer

source, work, ours = sys.argv[1], Path(sys.argv[2]), json.loads(sys.argv[3])
torch.set_num_threads(2)
failures = []


def check(name, good, text):
    print(f"{'ok  ' if good else 'FAIL'} {name}: {text}", flush=True)
    if not good:
        failures.append(name)


def model():
    return AutoModelForCausalLM.from_pretrained(source, dtype=torch.float32, attn_implementation="eager")


def tokenizer():
    return AutoTokenizer.from_pretrained(source)


def options(config, rows, **more):
    plain = dict(report_to=[], use_cpu=True, save_strategy="no", logging_strategy="steps", logging_steps=1, seed=1, bf16=False, fp16=False)
    return config(output_dir=str(work / "out"), per_device_train_batch_size=rows, per_device_eval_batch_size=rows, max_steps=2, learning_rate=1e-3, **plain, **more)


def rows_of(name):
    kind = "parquet" if name.endswith("parquet") else "json"
    return load_dataset(kind, data_files=str(work / name), split="train", cache_dir=str(work / "cache"))


for name in ("trl", "trl-parquet"):
    data = rows_of(name)
    check(f"{name} rows", len(data) == ours["rows"], f"{len(data)} rows, loss mask of {sum(map(sum, data['assistant_masks']))} tokens (ours {ours['tokens']})")
    trainer = SFTTrainer(model=model(), args=options(SFTConfig, len(data), max_length=None), train_dataset=data, eval_dataset=data, processing_class=tokenizer())
    loss = trainer.evaluate()["eval_loss"]
    check(f"{name} loss", abs(loss - ours["loss"]) < 1e-3, f"SFTTrainer {loss:.6f}, ours {ours['loss']:.6f}, difference {abs(loss - ours['loss']):.1e}")
    trainer.train()
    after = trainer.evaluate()["eval_loss"]
    check(f"{name} trains", after < loss, f"{loss:.4f} → {after:.4f}")
    # Without the ready-made labels it is the mask that says what is learned.
    masked = SFTTrainer(model=model(), args=options(SFTConfig, len(data), max_length=None), train_dataset=data.remove_columns("labels"), eval_dataset=data.remove_columns("labels"), processing_class=tokenizer())
    loss = masked.evaluate()["eval_loss"]
    check(f"{name} mask", abs(loss - ours["loss"]) < 1e-3, f"by assistant_masks alone {loss:.6f}")

for name in ("hf-chat", "hf-chat-parquet"):
    data = rows_of(name)
    trainer = SFTTrainer(model=model(), args=options(SFTConfig, 8, max_length=None), train_dataset=data, processing_class=tokenizer())
    result = trainer.train()
    check(f"{name} trains", math.isfinite(result.training_loss), f"{len(data)} conversations, loss {result.training_loss:.4f}")

data = rows_of("trl-dpo")
trainer = DPOTrainer(model=model(), args=options(DPOConfig, min(8, len(data)), max_length=None), train_dataset=data, processing_class=tokenizer())
trainer.train()
losses = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
check("trl-dpo trains", abs(losses[0] - math.log(2)) < 1e-3, f"{len(data)} pairs, losses {losses}")

if failures:
    print(f"Failed: {', '.join(failures)}")
    sys.exit(1)
