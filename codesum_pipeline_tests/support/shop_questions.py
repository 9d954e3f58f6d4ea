"""Questions about the small shop of the law, in other words than its names."""

from pathlib import Path

from codesum_pipeline.search.evaluation.questions import AnswerPlace, Question, write_questions

FILES_OF_QUESTIONS = {
    "round an amount of money to whole cents": "shop/money.py",
    "convert an amount by a positive rate": "shop/money.py",
    "write amounts with their currency": "shop/money.py",
    "what all records share": "shop/base.py",
    "write the record to a store under its identity": "shop/base.py",
    "what a customer wants to buy": "shop/cart.py",
    "put a product into the cart": "shop/cart.py",
    "sum of price times count over all lines": "shop/cart.py",
    "look a product up by its identity": "shop/catalogue.py",
    "refuse to register a product twice": "shop/catalogue.py",
    "hand the order to a delivery": "shop/orders/order.py",
    "a cart that was paid for": "shop/orders/order.py",
    "how to add a product to the catalogue guide": "docs/guide.md",
    "things to remember when the till is counted": "docs/notes.rst",
}


def write_shop_questions(path: Path, *, repo: str | None = "shop") -> Path:
    """All of them as a file; the path again."""
    questions = [
        Question(id=f"q{number:02}", query=query, relevant=(AnswerPlace(file),), repo=repo)
        for number, (query, file) in enumerate(FILES_OF_QUESTIONS.items())
    ]
    write_questions(path, questions)
    return path
