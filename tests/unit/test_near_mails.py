"""Near duplicates of mails by what their senders wrote."""

import random
from dataclasses import replace

import pytest

from indexer.documents.mail.message import MailMessage
from indexer.documents.mail.threads import ThreadMail, build_threads
from indexer.errors import UsageError
from indexer.jobs.threads import ThreadsOptions, near_mails, quotes_contained, similarity

WORDS = (
    "The ferry to the island leaves from pier four on Sundays and holidays at nine in the morning"
)
TREES = ("oak", "elm", "ash", "fir", "yew")
QUOTE = "Would you please tell all of us when the ferry leaves on the first Sunday of May"


def mail(number: int, own: str, quote: str = "", **values) -> MailMessage:
    lines = f"\n\nBo wrote:\n> {quote}\n" if quote else "\n"
    return MailMessage(
        id=f"{number:02}",
        path=f"{number}.eml",
        message_id=f"<{number}@x>",
        subject=f"Ferry {number}",
        date=values.pop("date", number * 3_600_000),
        body=f"{own}.{lines}",
        **values,
    )


def thread_mails(*mails: MailMessage) -> list[ThreadMail]:
    return [item for thread in build_threads(mails, similarity) for item in thread.mails]


def test_own_texts_are_near_duplicates_whatever_is_quoted():
    changed = WORDS.replace("nine", "ten")
    first = mail(1, WORDS)
    second = mail(2, changed, f"{QUOTE}. {QUOTE.replace('May', 'June')}")
    other = mail(3, "No idea, I have never been there and nobody told me about it", QUOTE)
    near = near_mails(thread_mails(other, second, first), 0.8)
    assert set(near) == {"01", "02"}
    assert (near["01"].principal, near["01"].similarity) == ("01", 1)
    assert near["01"].quotes_contained is None
    assert (near["02"].principal, near["02"].quotes_contained) == ("01", 0)
    assert near["02"].similarity == similarity(WORDS, changed)


def test_containment_of_quotes_is_said_beside_it():
    """Half of what the second mail quotes is in the first, which quotes less."""
    short, long = " ".join(QUOTE.split()[:9]), " ".join(WORDS.split()[:9])
    first = mail(1, "We all agree with that and shall be there", short)
    second = mail(2, "We all agree with that and shall be there", f"{short} {long}")
    near = near_mails(thread_mails(first, second), 0.8)
    assert (near["02"].similarity, near["02"].quotes_contained) == (1, 0.5)
    by_id = {item.message.id: item for item in thread_mails(first, second)}
    assert quotes_contained(by_id["01"], by_id["02"]) == 1


def test_signatures_and_disclaimers_are_no_own_text():
    signature = f"{WORDS}\n\nKind regards,\nAnn Lee\nHarbour office"
    near = near_mails(thread_mails(mail(1, WORDS), mail(2, signature)), 1)
    assert near["02"].similarity == 1


def test_mails_without_own_text_are_near_none():
    forwards = [replace(mail(number, "", QUOTE), body=f"> {QUOTE}\n") for number in (1, 2)]
    assert near_mails(thread_mails(*forwards), 0.8) == {}
    assert near_mails([], 0.8) == {}


def test_short_texts_are_near_equal_ones_only():
    near = near_mails(thread_mails(mail(1, "Yes"), mail(2, "Yes"), mail(3, "No")), 0.8)
    assert {id: item.principal for id, item in near.items()} == {"01": "01", "02": "01"}


def test_the_threshold_lies_between_0_and_1():
    with pytest.raises(UsageError, match="threshold"):
        ThreadsOptions(threshold=0)


@pytest.mark.parametrize("seed", range(5))
def test_groups_are_those_of_the_definition(seed):
    """Each mail joins the most similar earlier principal at the threshold, ties to the earlier
    one; over all pairs, by brute force.
    """
    random_source = random.Random(seed)
    texts = []
    for text in (WORDS, QUOTE):
        for _ in range(6):
            words = text.split()
            for _ in range(random_source.randrange(5)):
                words[random_source.randrange(len(words))] = random_source.choice(
                    ["oak", "elm", "ash", "fir", "yew"]
                )
            texts.append(" ".join(words))
    random_source.shuffle(texts)
    principals: dict[str, str] = {}
    expected: dict[str, str] = {}
    for number, text in enumerate(texts, 1):
        id = f"{number:02}"
        ranked = [(similarity(text, other), head) for head, other in principals.items()]
        best = max(ranked, key=lambda pair: pair[0], default=(0.0, ""))
        if best[0] >= 0.7:
            expected[id] = best[1]
        else:
            principals[id] = text
    expected |= {head: head for head in expected.values()}
    mails = [mail(number, text) for number, text in enumerate(texts, 1)]
    random_source.shuffle(mails)
    near = near_mails(thread_mails(*mails), 0.7)
    assert {id: item.principal for id, item in near.items()} == expected
