"""How well passages are found, measured beside plain BM25: `make bench-retrieval`.

    handbook/       36 documents of an invented ferry company, 34 in English, two in German
    questions.csv   104 questions, each with the section that answers it
    corpus.py       both, as the product cuts and stores them
    figures.py      recall, mean reciprocal rank and nDCG of ranked lists
    bench.py        the ways of searching, each asked every question

Kinds of questions: `words` of the answer, `exact` codes and numbers, `paraphrase` without its
words, and `language`: German, French or Spanish, six of the German ones on German documents.
"""
