"""transformers 5.24: `Seq2SeqTrainer(…, compute_metrics=partial(compute_metrics, tokenizer=tokenizer))`."""

import numpy as np

import softbleu


def compute_metrics(predicted, tokenizer):
    known = (np.where(ids < 0, tokenizer.pad_token_id, ids) for ids in (predicted.predictions, predicted.label_ids))
    outputs, references = (tokenizer.batch_decode(ids, skip_special_tokens=True) for ids in known)
    results = softbleu.score(outputs, references, metrics=["bleu", "chrf"])
    return {result.metric: result.score for result in results}
