"""transformers 5.24: `Seq2SeqTrainer(…, compute_metrics=partial(compute_metrics, tokenizer=tokenizer))`."""

import numpy as np

import softbleu


def compute_metrics(predicted, tokenizer):
    ids = predicted.predictions[0] if isinstance(predicted.predictions, tuple) else predicted.predictions
    known = (np.where(each < 0, tokenizer.pad_token_id, each) for each in (ids, predicted.label_ids))
    outputs, references = (tokenizer.batch_decode(each, skip_special_tokens=True) for each in known)
    results = softbleu.score(outputs, references, metrics=["bleu", "chrf"])
    return {result.metric: result.score for result in results}
