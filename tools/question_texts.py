#!/usr/bin/env python3
"""Texts and tables with people's questions, as `synth --kind texts --texts OUT` and `train --set texts=OUT` read them:

    question_texts.py OUT [--squad train-v1.1.json ...] [--tables WikiTableQuestions/ ...]

SQuAD's passages as published (JSON), WikiTableQuestions' tables as published (data/training.tsv and csv/). Of the
tables those questions whose answer stands in exactly one cell. What is not Latin-1 is left out."""
import argparse
import csv
import json
import os
import sys
import unicodedata

PLAIN = str.maketrans({'’': "'", '‘': "'", '“': '"', '”': '"', '–': '-', '—': '-', '−': '-', '…': '...', '\u00a0': ' '})


def plain(text):
    """One line of Latin-1 and the euro sign with single spaces, or None."""
    text = ' '.join(unicodedata.normalize('NFC', text.translate(PLAIN)).split())
    return text if all(' ' <= c <= '~' or '\u00a1' <= c <= '\u00ff' or c == '€' for c in text) else None


def asked(question, answer):
    return question and answer and len(question.encode()) <= 192 and len(answer) <= 64


def squad(path, out):
    count = 0
    with open(path, encoding='utf-8') as file:
        articles = json.load(file)['data']
    for article in articles:
        title = plain(article['title'].replace('_', ' ')) or 'Untitled'
        for paragraph in article['paragraphs']:
            text = plain(paragraph['context'])
            if not text:
                continue
            rows = []
            for qa in paragraph['qas']:
                question = plain(qa['question'])
                given = next((a for a in qa.get('answers', [])), None)
                if not given:
                    continue
                # The place in the text as it is now: spaces may have gone before it.
                before, answer = plain(paragraph['context'][:given['answer_start']]), plain(given['text'])
                if before is None or not asked(question, answer):
                    continue
                at = text.find(answer, max(0, len(before) - 1))
                if 0 <= at <= len(before) + 1:
                    rows.append(f'Q\t{question}\t{answer}\t{len(text[:at].encode())}')
            if rows:
                out.append([f'T\t{title}', f'P\t{text}'] + rows)
                count += len(rows)
    return count


def table(path):
    with open(path, encoding='utf-8', newline='') as file:
        rows = list(csv.reader(file, doublequote=False, escapechar='\\'))
    rows = [[plain(cell.replace('\n', ' ')) for cell in row] for row in rows]
    if len(rows) < 3 or len(rows[0]) < 2 or any(len(row) != len(rows[0]) or None in row for row in rows):
        return None
    return rows


def tables(folder, out):
    count, by_table = 0, {}
    with open(os.path.join(folder, 'data', 'training.tsv'), encoding='utf-8') as file:
        next(file)
        for line in file:
            _, question, name, answer = line.rstrip('\n').split('\t')
            by_table.setdefault(name, []).append((plain(question), plain(answer)))
    for name, questions in sorted(by_table.items()):
        path = os.path.join(folder, name)
        rows = table(path) if os.path.exists(path) else None
        if not rows:
            continue
        found = []
        for question, answer in questions:
            if not asked(question, answer):
                continue
            cells = [(i, k) for i, row in enumerate(rows[1:]) for k, cell in enumerate(row) if cell.lower() == answer.lower()]
            if len(cells) == 1:
                found.append('A\t%s\t%d\t%d' % (question, *cells[0]))
        if found:
            title = ' and '.join(rows[0][:2])
            out.append([f'T\t{title}', 'H\t' + '\t'.join(rows[0])] + ['R\t' + '\t'.join(row) for row in rows[1:]] + found)
            count += len(found)
    return count


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('out')
    parser.add_argument('--squad', action='append', default=[])
    parser.add_argument('--tables', action='append', default=[])
    options = parser.parse_args()
    records = []
    try:
        for path in options.squad:
            print(f'{squad(path, records)} questions of {path}')
        for folder in options.tables:
            print(f'{tables(folder, records)} questions of {folder}')
    except (OSError, ValueError, KeyError, TypeError, csv.Error) as problem:
        sys.exit(f'question_texts: {problem}')
    if not records:
        sys.exit('question_texts: no text with questions')
    with open(options.out + '.tmp', 'w', encoding='utf-8') as file:
        for record in records:
            file.write('\n'.join(record) + '\n')
    os.replace(options.out + '.tmp', options.out)
    print(f'{options.out}: {len(records)} texts and tables')


main()
