"""No mail that alone says something is held by another one, whatever form it has."""

import pytest

from indexer.documents.mail.message import alternative_text, html_text, read_message
from indexer.documents.mail.threads import build_threads
from indexer.jobs.threads import similarity

TEXT = "The board met on the pier and agreed to sell the old ferry in May."
NO = "I have never seen the contract before today, your honour."
ANN = "Ann Lee <ann@x.org>"


def mail(id, body, *answered, sender=ANN, subject="Ferry", kind="text/plain; charset=utf-8"):
    references = " ".join(f"<{other}@x>" for other in answered)
    head = f"From: {sender}\nDate: {len(answered) + 1} Mar 2024 10:00:00 +0000\n"
    head += f"Subject: {subject}\nMessage-ID: <{id}@x>\nContent-Type: {kind}\n"
    head += f"References: {references}\n" if answered else ""
    return read_message(f"{head}\n{body}\n".encode(), id, f"{id}.eml")


def answer(quote, *answered, sender=ANN, **values):
    lines = "\n".join(f">{line}" if line[:1] == ">" else f"> {line}" for line in quote.split("\n"))
    body = f"We discuss this tomorrow.\n\nOn 1 Mar 2024, at 10:00, {sender} wrote:\n\n{lines}"
    return mail("z", body, *answered, sender="Bo <bo@x.org>", **values)


def reasons(*mails):
    threads = build_threads(mails, similarity)
    return {
        item.message.id: item.reasons
        for thread in threads
        for item in thread.mails
        if item.is_inclusive and item.message.id != "z"
    }


@pytest.mark.parametrize("text", [TEXT, "No."])
def test_the_same_words_of_another_sender_do_not_hold_a_mail(text):
    first = mail("r", "Did you see the contract of the ferry?")
    two = [mail("a", text, "r"), mail("b", text, "r", sender="Cy <cy@x.org>")]
    assert "b" in reasons(first, *two, answer(text, "r", "a"))
    assert "a" not in reasons(first, *two, answer(text, "r", "a"))


def test_a_quote_below_the_mail_that_it_is_not_of_does_not_hold_it():
    others = answer("No.", "r", "a", sender="Cy")
    assert "a" not in reasons(mail("r", TEXT), mail("a", "No.", "r"), others)
    far = mail("c", "So it is.", "r", "a", sender="Cy <cy@x.org>")
    later = answer("No.", "r", "a", "c", sender="Cy")
    assert "a" in reasons(mail("r", TEXT), mail("a", "No.", "r"), far, later)


def test_words_under_the_name_of_another_do_not_hold_a_mail():
    assert "a" in reasons(mail("a", TEXT), answer(TEXT, "a", sender="Cy <cy@x.org>"))


def test_one_quote_does_not_hold_two_equal_mails_of_a_sender():
    above = mail("r", TEXT), mail("a", "I approve.", "r"), mail("b", NO, "r", "a")
    last = mail("c", "I approve.", "r", "a", "b")
    assert {"a"} == reasons(*above, last, answer("I approve.", "r", "a", "b", "c")).keys() & {
        "a",
        "c",
    }


BO, CY = "On 1 Feb 2024, at 9:00, Bo <bo@x.org> wrote:", "On 2 Feb 2024, Cy <cy@x.org> wrote:"
YES = "I approve the sale."


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        (f"{BO}\n> {YES}\n\n{CY}\n> {NO}", {"a": ("quoted_text",)}),
        (f"{CY}\n> {YES}\n\n{BO}\n> {YES}", {"a": ("attribution",)}),
        (f"{BO}\n> {YES}\n\n{CY}\n> {YES}", {}),
    ],
)
def test_an_answer_that_changes_who_said_what_does_not_hold_a_mail(changed, reason):
    first = mail("a", f"{TEXT}\n\n{BO}\n> {YES}\n\n{CY}\n> {YES}")
    assert reasons(first, answer(f"{TEXT}\n\n{changed}", "a")) == reason


@pytest.mark.parametrize(
    ("said", "quoted"),
    [
        ("(500)", "500"),
        ("(€ 1,500.00)", "€ 1,500.00"),
        ("–500", "500"),
        ("\u2011500", "500"),
        ("10²", "102"),
        ("1½", "11/2"),
        ("5″", "5′"),
        (":-)", ""),
        (":-)", ":-("),
        ("■ yes □ no", "□ yes ■ no"),
        ("\uf0fe sold", "\uf0a8 sold"),
        ("⠝⠕", ""),
    ],
)
def test_a_sign_that_a_quote_lacks_makes_a_mail_inclusive(said, quoted):
    text = "The board met on the pier and the result for the year was"
    assert reasons(mail("a", f"{text} {said}"), answer(f"{text} {quoted}", "a"))
    assert reasons(mail("a", f"{text} {said}"), answer(f"{text} {said}", "a")) == {}


@pytest.mark.parametrize(("said", "kept"), [("–500", "-500"), ("“5” m", '"5" m')])
def test_a_sign_that_programs_write_otherwise_is_the_same(said, kept):
    assert reasons(mail("a", f"{TEXT} {said}"), answer(f"{TEXT} {kept}", "a")) == {}


@pytest.mark.parametrize(
    "lines",
    [
        "Here is proof that he lied to the court on 3 May 2023 at 10:00 when he wrote:",
        "I will ask ann@x.org what John wrote:",
        "From: the office\nTo: everybody\nSubject: we destroy the files tonight",
        "--- forwarded the money to his wife ---",
    ],
)
def test_a_sentence_that_looks_like_a_heading_is_not_lost(lines):
    first = mail("a", f"{TEXT}\n{lines}\n> {NO}")
    assert reasons(first, answer(f"{TEXT}\n> {NO}", "a")) == {"a": ("attribution",)}
    assert reasons(first, answer(f"{TEXT}\n{lines}\n> {NO}", "a")) == {}


def test_attributions_that_follow_each_other_are_those_of_an_answer_that_divides_them():
    two = "> On 2 Feb 2024, at 9:00, Cy <cy@x.org> wrote:\n> On 1 Feb 2024, at 9:00, Di wrote:"
    first = mail("a", f"{two}\n>> {NO}\n")
    below = two.replace("> On 1", ">> On 1").replace("> On", ">On") + f"\n>>> {NO}"
    above = "On 2 Mar 2024, at 10:00, Ann Lee <ann@x.org> wrote:"
    assert reasons(first, mail("z", f"{TEXT}\n\n{above}\n{below}", "a")) == {}


@pytest.mark.parametrize("subject", ["Shred the files tonight", "[Shred the files] Ferry"])
def test_a_subject_that_no_other_mail_has_makes_a_mail_inclusive(subject):
    first = mail("a", TEXT, subject=subject)
    assert reasons(first, answer(TEXT, "a", subject="Re: Lunch")) == {"a": ("subject",)}
    assert reasons(first, answer(TEXT, "a", subject=f"AW: {subject}")) == {}


@pytest.mark.parametrize("kinds", [("plain", "plain"), ("plain", "html", "html"), ("html", "html")])
def test_every_alternative_text_is_read(kinds):
    said = [TEXT, *[NO] * (len(kinds) - 1)][::-1]
    parts = [
        f"--b\nContent-Type: text/{kind}\n\n{text}\n"
        for kind, text in zip(kinds, said, strict=True)
    ]
    first = mail("a", "".join(parts) + "--b--", kind="multipart/alternative; boundary=b")
    assert TEXT in first.body
    assert NO in first.body


@pytest.mark.parametrize(
    ("plain", "page"),
    [
        ("Ann owes Bob.", "<p>Bob owes Ann.</p>"),
        ("Ann never owes Bob.", "<p>Ann owes Bob.</p>"),
        ("Pay?\nYes.\nSell?\nNo.", "Pay?<br>No.<br>Sell?<br>Yes."),
    ],
)
def test_alternative_texts_with_the_same_words_in_another_order_are_both_read(plain, page):
    body = alternative_text(plain, html_text(page))
    assert plain in body
    assert html_text(page) in body


@pytest.mark.parametrize(
    ("plain", "page"),
    [
        ("See here <https://x.org/?a=1> now.", "See <a href='https://x.org/'>here</a> now."),
        ("[image: Logo]\nAnn [1]\n[1] https://x.org", "<img alt='Logo'><p><a>Ann</a></p>"),
        ("[cid:image001.png@01D]\nAnn", "<img alt='image001.png'><p>Ann"),
        ("We sell it,\n  *now* – so:\n\n- yes", "We <b>sell</b> it, now – so:<ul><li>yes</ul>"),
    ],
)
def test_what_programs_add_to_plain_text_is_no_other_text(plain, page):
    assert alternative_text(plain, html_text(page)) == plain


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("I <img src=x alt='do not'> agree.", "I  [image: do not]  agree."),
        ("Yes <img alt='👍'>", "Yes  👍"),
        ("<img alt=image001.png>Yes", "Yes"),
        ("10<sup>2</sup>, 1<sup>st</sup> m<sup>2</sup>", "10^2, 1st m2"),
        ("<table><tr><td>5<td>00</table>", "5 00"),
        ("<details><summary>5</summary>00</details>", "5\n00"),
        ("<!-- x --!>Sell it.<!-- y -->", "Sell it."),
        ("<!--[if !mso]><!-->Sell it.<!--<![endif]-->", "Sell it."),
    ],
)
def test_html_that_shows_more_than_its_text(page, text):
    assert html_text(page) == text


@pytest.mark.parametrize(
    "page",
    [
        "<html><head><title>x</title><body><p>Sell it.</body>",
        "<head><p>Sell it.</p>",
        "<p>No.<script/>Sell it.</p>",
        "<p>No.</p><style>p{}<p>Sell it.</p>",
        "<title>x<p>Sell it.</p>",
        "<style>a<b{}</style><script>'<title>'</script>Sell it.",
    ],
)
def test_text_below_a_tag_that_is_not_closed_is_read(page):
    assert "Sell it." in html_text(page)


@pytest.mark.parametrize(
    ("charset", "data", "text"),
    [
        ("gb2312", "朱镕基".encode("gbk"), "朱镕基"),
        ("shift_jis", "①髙橋".encode("cp932"), "①髙橋"),
        ("ks_c_5601-1987", "똠방각하".encode("cp949"), "똠방각하"),
        ("iso-8859-1", "80 €".encode("cp1252"), "80 €"),
        ("iso-8859-8-i", "שלום".encode("iso-8859-8"), "שלום"),
        ("'iso-8859-1'", "é".encode("latin-1"), "é"),
        ("us-ascii", "не".encode(), "не"),
        ("us-ascii", b"\x93no\x94\x81", "\x93no\x94\x81"),
        ("gb2312", b"caf\xe9", "café"),
    ],
)
def test_character_sets_that_programs_name_wrongly(charset, data, text):
    head = f"Content-Type: text/plain; charset={charset}\n\n".encode()
    assert read_message(head + data, "a", "a.eml").body == text


def test_a_transfer_encoding_with_blanks_behind_it_is_decoded():
    head = b"Content-Type: text/plain\nContent-Transfer-Encoding: BASE64 \n\n"
    assert read_message(head + b"U2VsbCBpdC4=\n", "a", "a.eml").body == "Sell it."


def test_text_below_base64_is_read():
    head = b"Content-Type: text/plain\nContent-Transfer-Encoding: base64\n\n"
    listed = b"U2VsbCBp\ndC4=\n____\nThe list\n"
    assert read_message(head + listed, "a", "a.eml").body == "Sell it.\n____\nThe list\n"
    assert read_message(head + b"Sell it.\n", "a", "a.eml").body == "Sell it.\n"


@pytest.mark.parametrize("kind", ["mixed", "alternative"])
def test_text_above_the_first_part_and_below_the_last_one_is_read(kind):
    usual = "This is a multi-part message\nin MIME format.\n\n"
    parts = f"{usual}Above.\n--b\nContent-Type: text/plain\n\n{TEXT}\n--b--\n{NO} Schön."
    first = mail("a", parts, kind=f"multipart/{kind}; boundary=b")
    assert first.body == f"Above.\n{TEXT}\n{NO} Schön.\n"
    assert reasons(first, answer(TEXT, "a"))
