#!/usr/bin/env python3
"""Questions of data/questions as items of a folder of pictures: written_items.py QUESTIONS.jsonl FOLDER [--unseen]

--unseen: only those that the shipped weights were not trained on."""
import json
import os
import sys


def main():
    unseen = "--unseen" in sys.argv[3:]
    if len(sys.argv) != 3 + unseen:
        sys.exit("usage: written_items.py QUESTIONS.jsonl FOLDER [--unseen] (writes FOLDER/items_written.jsonl)")
    questions, folder = sys.argv[1:3]
    try:
        with open(os.path.join(folder, "items.jsonl"), encoding="utf-8") as file:
            sizes = {}
            for line in file:
                item = json.loads(line)
                sizes[item["image"]] = item["width"], item["height"]
        with open(questions, encoding="utf-8") as file:
            pages = [json.loads(line) for line in file]
    except OSError as problem:
        sys.exit(f"written_items: {problem}")
    rows = []
    for page in pages:
        if page["image"] not in sizes:
            continue
        width, height = sizes[page["image"]]
        asked = page["questions"]
        if unseen:
            asked = asked[len(asked) - page.get("unseen", 0):]
        for question, answer, boxes in asked:
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
