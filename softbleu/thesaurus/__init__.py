"""Knowledge about words: stems, and the synonyms and paraphrases of METEOR's files."""
