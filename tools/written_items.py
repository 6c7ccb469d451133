#!/usr/bin/env python3
"""Questions of data/questions as items of a folder of pictures: written_items.py QUESTIONS.jsonl[.gz] FOLDER"""
import gzip
import json
import os
import sys


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: written_items.py QUESTIONS.jsonl[.gz] FOLDER (writes FOLDER/items_written.jsonl)")
    questions, folder = sys.argv[1:]
    try:
        with open(os.path.join(folder, "items.jsonl"), encoding="utf-8") as file:
            sizes = {}
            for line in file:
                item = json.loads(line)
                sizes[item["image"]] = item["width"], item["height"]
        with (gzip.open if questions.endswith(".gz") else open)(questions, "rt", encoding="utf-8") as file:
            pages = [json.loads(line) for line in file]
    except (OSError, EOFError, ValueError) as problem:
        sys.exit(f"written_items: {questions}, {folder}: {problem}")
    rows = []
    for page in pages:
        if page["image"] not in sizes:
            continue
        width, height = sizes[page["image"]]
        for question, answer, boxes in page["questions"]:
            rows.append({"id": f"written_{len(rows) + 1}", "image": page["image"], "width": width, "height": height,
                         "question": question, "answer": answer.lower(), "answers": [answer],
                         "answer_boxes": boxes, "evidence_boxes": [], "text_boxes": [], "kind": "written",
                         "box_from": "words"})
    if not rows:
        sys.exit(f"written_items: none of the pages of {questions} is in {folder}")
    path = os.path.join(folder, "items_written.jsonl")
    with open(path + ".tmp", "w", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
    os.replace(path + ".tmp", path)
    print(f"{path}: {len(rows)} questions on {len({row['image'] for row in rows})} pages")


main()
