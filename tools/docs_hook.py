"""For mkdocs: links out of docs/ name the file of the repository; README pictures are found."""
import re


def on_page_markdown(markdown, **_):
    return re.sub(r"\[([^\]]*)\]\((?:\.\./)+([^)#]+)[^)]*\)", r"\1 (`\2` in the repository)", markdown)
