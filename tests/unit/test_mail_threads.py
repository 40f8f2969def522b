"""Mail: segments, Message-IDs, threads and inclusive mails."""

import base64
import random
from dataclasses import replace
from email.message import EmailMessage
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mail_oracle import labelled_words, lost_attachments, uncovered
from synthetic_mail import corpus

from indexer.documents.base import message_hash
from indexer.documents.mail.message import (
    Attachment,
    MailMessage,
    alternative_text,
    html_text,
    read_message,
)
from indexer.documents.mail.quote_headings import marked_lines, segment_words
from indexer.documents.mail.segments import segments
from indexer.documents.mail.threads import Thread, build_threads, is_above, reference_parents
from indexer.jobs.threads import similarity, threads

TEXT = "We do not sell the ferry to Peter this year, says Mary from the harbour office."


def kinds(body: str, subject: str = "") -> list[tuple[str, int, str]]:
    return [(part.kind, part.depth, part.text) for part in segments(body, subject)]


@pytest.mark.parametrize(
    ("message_id", "mih"),
    [
        (
            "<CALckR-a8UDkRjO4xJyjd_s0GPxQWw@mail.gmail.com>",
            "1de319c276884bd0c9e2f1621ada26cc",
        ),
        ("<1@x>", message_hash("<1@x>")),
        ("", ""),
    ],
)
def test_edrm_message_identification_hash(message_id, mih):
    assert message_hash(message_id) == mih


@pytest.mark.parametrize(
    "heading",
    [
        "On Mon, Feb 5, 2024 at 10:00 AM Ann Lee <ann@x.org> wrote:",
        "On Mon, Feb 5, 2024 at 10:00 AM Ann Lee\n<ann@x.org> wrote:",
        "Am Mo., 5. Feb. 2024 um 10:00 Uhr schrieb Ann Lee <ann@x.org>:",
        "Le lun. 5 févr. 2024 à 10:00, Ann Lee <ann@x.org> a écrit :",
        "El lun, 5 feb 2024 a las 10:00, Ann Lee (<ann@x.org>) escribió:",
        "Il giorno lun 5 feb 2024 alle ore 10:00 Ann Lee <ann@x.org> ha scritto:",
        "Op ma 5 feb 2024 om 10:00 schreef Ann Lee <ann@x.org>:",
        "пн, 5 февр. 2024 г. в 10:00, Ann Lee <ann@x.org>:",
        "2024年2月5日(月) 10:00 Ann Lee <ann@x.org>:",
        "Ann Lee <ann@x.org> 于2024年2月5日周一 10:00写道：",
        "---- On Mon, 05 Feb 2024 10:00:00 +0100 Ann Lee <ann@x.org> wrote ---",
        "-----Original Message-----\nFrom: Ann Lee\nSent: Monday\nTo: Bo\nSubject: Ferry",
        "________________________________\nVon: Ann\nGesendet: Montag\nAn: Bo\nBetreff: Fähre",
        "De : Ann Lee\nEnvoyé : lundi 5 février 2024 10:00\nÀ : Bo\nObjet : Ferry",
        "Message du 05/02/24 10:00\nDe : Ann Lee <ann@x.org>\nA : Bo\nCopie à : \nObjet : Ferry",
        "*From:* Ann Lee <ann@x.org>\n*Sent:* Monday\n*To:* Bo <bo@y.org>; Cy\n<cy@y.org>\n"
        "*Subject:* Ferry",
        '>>> "Lee, Ann" <ann@x.org> 02/05/24 10:00 AM >>>',
        ">>> Ann Lee 5/2/2024 >>>",
        "Ann Lee/Dover/Acme\n05/02/2024 10:00 AM\n\nTo\nBo/Dover/Acme@ACME\ncc\n\nSubject\nFerry",
        "Ann Lee\n05.02.2024 10:00\nAn\tBo/Bonn/Acme\nKopie\tCy\nThema\tFähre",
    ],
)
def test_headings_of_clients_without_quote_marks(heading):
    assert kinds(f"Fine.\n\n{heading}\n\nShall we?\n") == [
        ("reply", 0, "Fine."),
        ("attribution", 0, heading),
        ("quoted", 1, "Shall we?"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "We met on 5 February 2024 and agreed on the price:\n\n12 euros",
        "From the harbour: a short way.\nTo the office: a long one.",
        "He wrote:\n\nnothing at all",
        "Note: three things.",
        "------\nA table\n------",
        "--- He wrote three letters ---\nnothing at all",
        "The ferry\n05/02/2024 10:00 AM\n\nTo\nbe continued",
    ],
)
def test_prose_is_no_heading(text):
    assert {kind for kind, _, _ in kinds(text)} == {"reply"}


def test_depths_of_quote_marks():
    body = "I agree.\n\nBo wrote:\n> Well.\n>\n> Ann wrote:\n>> Shall we?\n> No.\nYes.\n"
    assert kinds(body) == [
        ("reply", 0, "I agree."),
        ("attribution", 0, "Bo wrote:"),
        ("quoted", 1, "Well."),
        ("attribution", 1, "Ann wrote:"),
        ("quoted", 2, "Shall we?"),
        ("quoted", 1, "No."),
        ("reply", 0, "Yes."),
    ]


def test_a_quote_that_answers_interrupt_is_one_message():
    parts = segments("Ann wrote:\n> One.\nYes.\n> Two.\n")
    assert [part.region for part in parts if part.kind == "quoted"] == [1, 1]


def test_apple_mail_puts_the_attribution_within_the_marks():
    body = "Fine.\n\n> On Feb 5, 2024, at 10:00, Ann <ann@x.org> wrote:\n> \n> Shall we?\n"
    assert [part[:2] for part in kinds(body)] == [("reply", 0), ("attribution", 1), ("quoted", 1)]


def test_forwarded_messages_begin_and_end():
    body = (
        "See below.\n\n----- Forwarded message from Ann -----\n\nFrom: Ann\nDate: today\n"
        "Subject: Ferry\n\nShall we?\n\n----- End forwarded message -----\n\nWhat do you say?\n"
    )
    assert [part[:2] for part in kinds(body)] == [
        ("reply", 0),
        ("attribution", 0),
        ("forwarded", 1),
        ("attribution", 0),
        ("reply", 0),
    ]
    outlook = "FYI\n\nFrom: Ann\nSent: today\nTo: Bo\nSubject: Ferry\n\nShall we?\n"
    assert kinds(outlook, "FW: Ferry")[-1] == ("forwarded", 1, "Shall we?")
    assert kinds(outlook, "RE: Ferry")[-1] == ("quoted", 1, "Shall we?")


def test_what_ends_a_message():
    notice = (
        "This e-mail is confidential and intended for the addressee only.\n"
        "If you are not the intended recipient, delete it."
    )
    assert kinds(f"Yes.\n\nKind regards,\nAnn\n\n{notice}\n") == [
        ("reply", 0, "Yes."),
        ("signature", 0, "Kind regards,\nAnn"),
        ("disclaimer", 0, notice),
    ]
    assert kinds("Yes.\n\nVon meinem iPhone gesendet")[1][0] == "signature"
    footer = f"{'_' * 47}\nx-list mailing list\nhttps://x.org/mailman/listinfo/x-list"
    assert kinds(f"Yes.\n{footer}")[1] == ("disclaimer", 0, footer)


@pytest.mark.parametrize(
    "text",
    [
        "PS: call me",
        "P.S. Do not sell the ferry.",
        "N.B. not on Monday",
        "Please do not forward this.",
        "And one thing more about the ferry",
    ],
)
@pytest.mark.parametrize("ending", ["Thanks,\nAnn", "Kind regards,\n\nAnn Lee\nHarbour office"])
def test_text_below_a_name_is_text_again(text, ending):
    assert kinds(f"Yes.\n\n{ending}\n\n{text}\n") == [
        ("reply", 0, "Yes."),
        ("signature", 0, ending),
        ("reply", 0, text),
    ]


def test_a_postscript_below_a_marked_signature_is_text():
    assert kinds("Yes.\n-- \nAnn\n\nTel. 12\nPS: no\n")[-1] == ("reply", 0, "PS: no")


def test_text_below_the_line_of_a_telephone_is_text():
    assert kinds("Yes.\n\nSent from my iPhone\n\nBuy milk.\n")[-1] == ("reply", 0, "Buy milk.")


def test_names_and_addresses_below_an_empty_line_are_of_the_signature():
    signature = "Saludos,\n\nJesus.\n\nHarbour office\n\nTel. 040 123 456, see https://x.org now."
    assert kinds(f"Yes.\n\n{signature}\n")[-1] == ("signature", 0, signature)


def test_prompts_and_escaped_lines_are_text():
    text = "Try this:\n>>> print(1)\n{}From here on: the body"
    assert kinds(text.format(">")) == [("reply", 0, text.format(""))]


def test_marks_before_a_heading_of_groupwise_are_counted_without_its_own():
    body = "Hi.\n> >>> Bo Lee 5/2/2024 10:00 AM >>>\n> Hello.\n"
    assert [(line.marks, line.text[:5]) for line in marked_lines(body)] == [
        (0, "Hi."),
        (1, ">>> B"),
        (1, "Hello"),
    ]
    assert kinds("Try:\n>>> 1 + 3/4 >>> 2")[0][0] == "reply"
    address = "Hi.\n> >>> Bo Lee <bo@x.org> 5/2/2024 10:00 AM >>>\n> Hello.\n"
    assert [part[0] for part in kinds(address)] == ["reply", "attribution", "quoted"]


@pytest.mark.parametrize("heading", ["Monday, 5 February 2024, you wrote:", "Ann Lee writes:"])
@pytest.mark.parametrize("around", ["", "> "])
def test_initials_before_a_quote_mark(heading, around):
    lines = f"{heading}\n\n AL> Shall we?\n AL>\n AL> At noon.\n AL>> No.\nYes.\n AL> Bye."
    depth = bool(around)
    parts = kinds("\n".join(around + line for line in lines.split("\n")))
    assert [part[1:] for part in parts] == [
        (depth, heading),
        (depth + 1, "Shall we?\n\nAt noon."),
        (depth + 2, "No."),
        (depth, "Yes."),
        (depth + 1, "Bye."),
    ]


def test_names_before_a_quote_mark():
    body = "Ann Lee <ann@x.org> writes:\n\nAnn> Shall we?\nBo> I did not say that.\n"
    assert kinds(body)[1] == ("quoted", 1, "Shall we?")
    assert kinds(body)[-1] == ("reply", 0, "Bo> I did not say that.")
    deeper = "On 5 Feb 2024 10:00, you wrote:\n\n AL> Shall we?\n CY>> I did not say that.\n"
    assert kinds(deeper)[-1] == ("quoted", 2, "CY I did not say that.")


@pytest.mark.parametrize(
    "text", ["Try this:\nSQL> select", "Ann wrote:\nsql> select", "AL> Yes", "If A> B\nor B> C"]
)
def test_a_name_before_a_sign_is_text_without_a_heading(text):
    assert kinds(text) == [("reply", 0, text)]


def test_three_marks_among_quotes_are_no_prompt():
    body = "Hi.\n\nBo wrote:\n> Hello.\n\nYes.\n\n>>> - old line\n"
    assert kinds(body)[-1] == ("quoted", 3, "- old line")


def test_archives_write_addresses_otherwise():
    body = "Fine.\n\n2016-04-14 11:06 GMT+02:00 Ann Lee <ann at x.org>:\n\nShall we?\n"
    assert kinds(body)[-1] == ("quoted", 1, "Shall we?")


def test_a_notice_in_simplified_chinese_is_a_disclaimer():
    notice = "本邮件为机密信息，仅供收件人使用。如误收，请删除。"
    assert kinds(f"同意。\n\n{notice}")[-1] == ("disclaimer", 0, notice)


def test_the_footer_of_a_list_below_dashes_is_no_signature():
    footer = "--\nTo unsubscribe from this list: send the line"
    assert kinds(f"Yes.\n\n{footer}")[-1] == ("disclaimer", 0, footer)


def test_html_quotes_become_marks():
    page = "<div>Fine.</div><div class=gmail_quote>Ann &lt;a@x.org&gt; wrote:<br>"
    page += "<blockquote><p>Shall<br>we?</p><blockquote>No</blockquote></blockquote></div>"
    page += "<style>p{}</style><div class='gmail_signature'>Bo</div>"
    assert [line for line in html_text(page).split("\n") if line.strip(">")] == [
        "Fine.",
        "Ann <a@x.org> wrote:",
        "> Shall",
        "> we?",
        ">> No",
        "-- ",
        "Bo",
    ]


@pytest.mark.parametrize(
    "page",
    ["<" * 9, "<a <b", "<!-- x", "&lt;&#x;", "<blockquote>" * 99 + "x", "</div></p>", "<![CDATA["],
)
def test_broken_html_is_read_as_far_as_it_goes(page):
    assert isinstance(html_text(page), str)


@settings(max_examples=300, deadline=None)
@given(st.text(st.sampled_from("<>/!?-ab \"'=&;#\n"), max_size=60))
def test_any_html_is_read(page):
    assert isinstance(html_text(f"<p>{page}</p><!doctype x><blockquote>{page}"), str)


@pytest.mark.parametrize(
    "tags",
    [
        "<s>%s</s>",
        "<STRIKE>%s</STRIKE>",
        "<b><del>%s</del></b>",
        "<span style='text-decoration:line-through'><i>%s</i></span>",
    ],
)
def test_what_is_struck_out_is_marked(tags):
    page = f"<p>We do {tags % 'not'} sell <span>it</span></p>"
    assert html_text(page) == "We do ~~not~~ sell it"


def test_html_without_what_is_not_text():
    page = "<!DOCTYPE html><?xml version='1.0'?><head><title>T</title></head><!-- c -->"
    page += "<p>a<!-- > --> b</p>"
    page += "<script>1 < 2</script>"
    page += "<pre>c\n  d</pre>"
    assert html_text(page).split() == ["a", "b", "c", "d"]
    assert html_text("<pre>c\n  d</pre>") == "c\n  d"


def eml(**fields: str) -> EmailMessage:
    message = EmailMessage()
    for name, value in fields.items():
        message[name.replace("_", "-")] = value
    message.set_content("Fine.\n")
    return message


def test_fields_of_a_mail():
    message = eml(
        Message_ID="<2@x>",
        In_Reply_To="<1@x>",
        References="<0@x> <1@x>",
        Subject="Fähre",
        Date="Mon, 5 Feb 2024 10:00:00 +0100",
        From="Ann <ann@x.org>",
    )
    message.add_alternative("<p>Fine</p>", subtype="html")
    message.add_attachment(b"abc", maintype="application", subtype="pdf", filename="a.pdf")
    mail = read_message(message.as_bytes(), "id", "a.eml")
    assert (mail.message_id, mail.replies_to) == ("<2@x>", ("<0@x>", "<1@x>"))
    assert (mail.subject, mail.date, mail.body) == ("Fähre", 1_707_123_600_000, "Fine.\n")
    [attachment] = mail.attachments
    assert attachment.name == "a.pdf"
    assert attachment.sha256.startswith("ba7816bf8f01cfea")


HEADER = "From: Jürgen <j@x.org>\nSubject: Fähre\nMessage-ID: <1@x>\n"


@pytest.mark.parametrize(
    "data",
    [
        f"\ufeff{HEADER}\nGrün\n".encode(),
        f"{HEADER}\nGrün\n".encode("utf-16"),
        f"{HEADER}Content-Type: text/plain; charset=us-ascii\n\nGrün\n".encode("utf-16-be"),
        f"{HEADER}\nGrün\n".encode(),
        f"{HEADER}\nGrün\n".encode("latin-1"),
        f"Größe: 5\n{HEADER}\nGrün\n".encode("latin-1"),
        f"{HEADER}Content-Type: text/plain; charset=cp1252\n\nGrün\n".encode("cp1252"),
    ],
)
def test_headers_in_any_character_set(data, tmp_path):
    message = read_message(data, "id", "a.eml")
    assert (message.subject, message.sender) == ("Fähre", "Jürgen <j@x.org>")
    assert (message.message_id, message.body) == ("<1@x>", "Grün\n")
    (tmp_path / "a.eml").write_bytes(data)
    assert threads([str(tmp_path)]).mail_count == 1


def test_a_file_of_a_maildir_with_a_byte_order_mark_is_a_mail(tmp_path):
    (tmp_path / "noname").write_bytes(f"{HEADER}\nGrün\n".encode("utf-16"))
    result = threads([str(tmp_path)])
    assert (result.mail_count, result.inclusive_count) == (1, 1)


@pytest.mark.parametrize(
    ("charset", "codec", "text"),
    [
        ("windows-874", "cp874", "เราไม่ขาย"),
        ("x-windows-949", "cp949", "팔지 않는다"),
        ("win-1251", "cp1251", "Не продаём"),
        ("cp-1250", "cp1250", "Neprodáváme"),
        ("x-koi8-r", "koi8-r", "Не продаём"),
        ("iso-8859-6-i", "iso8859-6", "لا نبيع"),
        ("latin-9", "iso8859-15", "5 €"),
    ],
)
def test_character_sets_by_the_names_that_mails_give_them(charset, codec, text):
    head = f"Content-Type: text/plain; charset={charset}\nContent-Transfer-Encoding: 8bit\n\n"
    assert read_message(head.encode() + text.encode(codec), "id", "a.eml").body == text


def test_base64_in_several_blocks_is_read_to_the_end():
    blocks = [base64.b64encode(text).decode() for text in (b"We sell.", b" Do not.", b" Never.!")]
    for between in ("", "\n"):
        data = f"Content-Transfer-Encoding: base64\n\n{between.join(blocks)}\n".encode()
        assert read_message(data, "id", "a.eml").body == "We sell. Do not. Never.!"


def alternative(plain: str, html: str) -> str:
    message = EmailMessage()
    message.set_content(plain)
    message.add_alternative(html, subtype="html")
    return read_message(message.as_bytes(), "id", "a.eml").body


def test_text_that_only_the_html_has_is_read():
    assert alternative("Fine.\n", "<p>Fine</p>") == "Fine.\n"
    assert alternative("See the HTML.\n", "<p>See the HTML.</p><p>We sell.</p>").endswith(
        "We sell."
    )
    both = alternative("At noon <https://x.org>.\n", "<p>At noon.</p><p>Do not sell</p>")
    assert both == "Do not sell\n\nAt noon <https://x.org>.\n"


TEXTS = st.lists(st.sampled_from(["sell", "not", "> the ferry", "", "5 $", ">> we"]), max_size=6)


@given(TEXTS, TEXTS)
def test_alternatives_lose_no_word(plain, rich):
    words = [segment_words(text.replace(">", "")) for text in ("\n".join(plain), "\n".join(rich))]
    text = alternative_text("\n".join(plain), "\n".join(rich)).replace(">", "")
    for one in words:
        assert set(one) <= set(segment_words(text))


def test_message_ids_without_brackets():
    first = read_message(eml(Message_ID="1@x").as_bytes(), "a", "a.eml")
    answer = read_message(eml(Message_ID="2@x", In_Reply_To="1@x").as_bytes(), "b", "b.eml")
    [thread] = build_threads([first, answer], similarity)
    assert thread.id == first.mih == message_hash("<1@x>")
    assert [item.parent for item in thread.mails] == [None, "a"]


@pytest.mark.parametrize("data", [b"", b"\xff\xfe", b"Subject: =?x?q?a?=\n\n\xff", b"From: a\n"])
def test_damaged_mails_are_read_as_far_as_they_go(data):
    assert read_message(data, "id", "path").id == "id"


@settings(max_examples=200, deadline=None)
@given(
    st.text(st.sampled_from("ab> \n-_:<@.\t\x0b"), max_size=300), st.sampled_from(["", "Fwd: a"])
)
def test_each_line_with_text_is_in_exactly_one_segment(body, subject):
    parts = segments(body, subject)
    places = [(part.start, part.stop) for part in parts]
    assert all(stop <= start for (_, stop), (start, _) in pairwise(places))
    lines = [line for line in marked_lines(body) if not line.is_blank]
    inside = [line for line in lines if any(start <= line.start < stop for start, stop in places)]
    assert inside == lines


ID = st.sampled_from([f"<{letter}@x>" for letter in "abcdef"])


@given(st.lists(st.tuples(ID, st.lists(ID, max_size=4)), max_size=8))
def test_references_never_make_a_circle(references):
    parents = reference_parents(references)
    for child, parent in parents.items():
        assert not is_above(child, parent, parents)


def mail(number: int, body: str, replies_to: tuple[str, ...] = (), **values) -> MailMessage:
    return MailMessage(
        id=str(number),
        path=f"{number}.eml",
        message_id=f"<{number}@x>",
        replies_to=replies_to,
        subject="Re: Ferry" if replies_to or number > 1 else "Ferry",
        sender=values.pop("sender", f"Person{number} <p{number}@x.org>"),
        date=values.pop("date", number * 3_600_000),
        body=body,
        **values,
    )


def quoted(text: str, sender: str = "Person1 <p1@x.org>") -> str:
    lines = "\n".join(f"> {line}" for line in text.split("\n"))
    return f"On Mon, Feb 5, 2024 at 10:00 AM {sender} wrote:\n\n{lines}\n"


def verdicts(*mails: MailMessage, **options) -> dict[str, tuple[str | None, tuple[str, ...]]]:
    threads = build_threads(mails, similarity, **options)
    return {
        item.message.id: (item.held_by, item.reasons) for thread in threads for item in thread.mails
    }


FIRST = mail(1, TEXT)
ANSWER = mail(2, f"That is fine with me.\n\n{quoted(TEXT)}", ("<1@x>",))


def test_an_answer_that_quotes_all_holds_the_mail():
    assert verdicts(FIRST, ANSWER) == {"1": ("2", ()), "2": (None, ("own_text",))}


def test_a_deleted_not_makes_the_mail_inclusive_again():
    changed = replace(ANSWER, body=ANSWER.body.replace(" not ", " "))
    assert verdicts(FIRST, changed)["1"] == (None, ("changed",))


@pytest.mark.parametrize(
    ("sign", "other"),
    [
        ("$5", "€5"),
        ("< 5", "> 5"),
        ("!= 5", "= 5"),
        ("-5", "5"),
        ("-> x", "<- x"),
        ("5?", "5."),
        ("5 %", "5"),
        ("a/b", "a b"),
        ("की", "का"),
    ],
)
def test_another_sign_in_a_quote_makes_the_mail_inclusive_again(sign, other):
    text = f"{TEXT} {sign}"
    first = replace(FIRST, body=text)
    kept = replace(ANSWER, body=f"That is fine.\n\n{quoted(text)}")
    changed = replace(ANSWER, body=f"That is fine.\n\n{quoted(f'{TEXT} {other}')}")
    assert verdicts(first, kept)["1"] == ("2", ())
    assert verdicts(first, changed)["1"] == (None, ("changed",))


SIGNS = ["$", "€", "<", ">", "!=", "-5", "5", "not", "%", "=", "a/b", "<a@x.org>", "ferry", "?"]


@given(st.lists(st.sampled_from(SIGNS)))
def test_wrapping_and_emphasis_change_no_word(items):
    text = " ".join(items)
    wrapped = "\n".join(f"*{item}*" if item.isalpha() else item for item in items)
    assert segment_words(wrapped) == segment_words(text)


@pytest.mark.parametrize("words", ["I never said this: ", "Not so: "])
def test_words_put_before_a_quote_make_the_mail_inclusive_again(words):
    before = replace(ANSWER, body=f"That is fine.\n\n{quoted(words + TEXT)}")
    after = replace(ANSWER, body=f"That is fine.\n\n{quoted(f'{TEXT} {words}')}")
    assert verdicts(FIRST, before)["1"] == verdicts(FIRST, after)["1"] == (None, ("changed",))


def test_a_dropped_attachment_makes_the_mail_inclusive_again():
    attachment = (Attachment("a.pdf", "0" * 64),)
    with_file = replace(FIRST, attachments=attachment)
    assert verdicts(with_file, ANSWER)["1"] == (None, ("attachment",))
    kept = replace(ANSWER, attachments=attachment)
    assert verdicts(with_file, kept)["1"] == ("2", ())


def test_an_answer_that_drops_the_quote_below_does_not_hold():
    third = mail(3, f"Agreed then.\n\n{quoted('That is fine with me.')}", ("<1@x>", "<2@x>"))
    assert verdicts(FIRST, ANSWER, third)["2"] == (None, ("quoted_text",))


def test_a_signature_that_no_inclusive_mail_has_makes_one_inclusive():
    signed = replace(FIRST, body=f"{TEXT}\n\n-- \nPerson One\nTel. 123\n")
    assert verdicts(signed, ANSWER)["1"] == (None, ("signature",))
    assert verdicts(signed, ANSWER, ignore_endings=True)["1"] == ("2", ())


def test_a_short_text_is_held_by_answers_alone():
    thanks = replace(FIRST, body="Thanks.\n")
    other = mail(2, "Thanks.\n", ("<0@x>",))
    later = mail(3, f"No.\n\n{quoted('Thanks.')}", ("<0@x>", "<2@x>"))
    root = replace(thanks, replies_to=("<0@x>",))
    assert verdicts(root, other, later) == {
        "1": (None, ("own_text",)),
        "2": ("3", ()),
        "3": (None, ("own_text",)),
    }


def test_a_mail_without_fields_is_linked_by_what_it_quotes():
    lost = replace(ANSWER, replies_to=())
    [thread] = build_threads([FIRST, lost], similarity)
    assert [(item.parent, item.link) for item in thread.mails] == [(None, ""), ("1", "quote")]
    changed = replace(lost, body=lost.body.replace(" not ", " "))
    assert len(build_threads([FIRST, changed], similarity)) == 1


def test_a_short_quote_links_only_with_sender_and_subject():
    first = replace(FIRST, body="See you.\n")
    lost = mail(2, f"Yes.\n\n{quoted('See you.')}")
    assert len(build_threads([first, lost], similarity)) == 1
    assert len(build_threads([first, replace(lost, subject="Re: Other")], similarity)) == 2
    longer = replace(lost, body=lost.body.replace("See you", "See you there"))
    assert len(build_threads([first, longer], similarity)) == 2
    stranger = replace(lost, body=lost.body.replace("Person1 <p1@x.org>", "Cy <c@x.org>"))
    assert len(build_threads([first, stranger], similarity)) == 2


def test_a_mail_is_not_linked_to_one_that_was_sent_later():
    lost = replace(ANSWER, replies_to=(), date=0)
    later = replace(FIRST, date=90_000_000)
    assert len(build_threads([later, lost], similarity)) == 2


def test_a_missing_parent_keeps_its_answers_together():
    two = [mail(number, f"{TEXT} {number}", ("<0@x>",)) for number in (1, 2)]
    [thread] = build_threads(two, similarity)
    assert thread.id == message_hash("<0@x>")
    assert [(item.parent, item.depth) for item in thread.mails] == [(None, 0), (None, 0)]


def test_copies_are_one_message_and_one_of_them_is_enough():
    copy = replace(FIRST, id="9", path="copy.eml")
    [thread] = build_threads([FIRST, copy], similarity)
    assert [(item.copy_of, item.is_inclusive) for item in thread.mails] == [
        (None, False),
        ("1", True),
    ]
    other_text = replace(copy, body=TEXT.replace(" not ", " "))
    assert all(held is None for held, _ in verdicts(FIRST, other_text).values())


def labels(threads: list[Thread]) -> list[tuple[str, ...]]:
    return [
        (thread.id, *(str((m.message.id, m.parent, m.held_by, m.reasons)) for m in thread.mails))
        for thread in threads
    ]


@pytest.mark.long
def test_the_same_threads_for_every_order_of_the_mails():
    messages = [read_message(one.bytes(), one.key, one.key) for one in corpus(60, seed=3)]
    before = labels(build_threads(messages, similarity))
    random.Random(0).shuffle(messages)
    assert labels(build_threads(messages, similarity)) == before


@pytest.mark.long
@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_inclusive_mails_have_every_segment_and_attachment(seed):
    mails = corpus(120, seed)
    messages = [read_message(one.bytes(), one.key, one.key) for one in mails]
    threads = build_threads(messages, similarity)
    assert [item for thread in threads for item in uncovered(thread)] == []
    assert sum(map(lost_attachments, threads)) == 0
    assert sum(len(thread.inclusive) for thread in threads) < 0.6 * len(mails)


@pytest.mark.long
def test_segments_of_the_clients():
    """Words whose kind and depth are right; docs/threads.md has the figures by client."""
    right = total = 0
    for one in corpus(150, seed=5):
        message = read_message(one.bytes(), one.key, one.key)
        truth = labelled_words(one.parts)
        answer = labelled_words(segments(message.body, message.subject))
        right += sum(a == b for a, b in zip(truth, answer, strict=False))
        total += len(truth)
    assert right / total > 0.85
