"""Headings of quotes in mails: the lines above a quoted message, by the programs that write them;
quote marks, and the words of segments.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from heapq import nsmallest
from itertools import chain
from typing import Literal, TypeAlias
from zlib import crc32

from indexer.fingerprinting.normalise import MARK, SPACING_MARK, category_ranges

_MARKS = re.compile(r"[ \t]{0,2}(?:>[ \t]?)+")
_PROMPT = re.compile(r">>> (?!>)")
_GROUPWISE = re.compile(r"(?:>[ \t]?)*(>>> ?(?=[^\s>])(?:[^<>]|<[^<>]*>)*\d[./-]\d.*>>>[ \t]*)")
_MAX_HEADING = 200
_ENVELOPE = re.compile(r">From [^\s>]")
_INVISIBLE = re.compile("[\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]+")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a body: the characters [`start`, `stop`) with its end, the number of quote marks
    before it, and its text without these.
    """

    start: int
    stop: int
    marks: int
    text: str

    @property
    def is_blank(self) -> bool:
        """True for a line without text."""
        return not self.text.strip()


def marked_lines(body: str) -> list[Line]:
    """Return the lines of a body with their quote marks.

    A mark is `>`, blanks may stand between. `>From ` below a line without marks is a line that a
    mailbox escaped, and `>>> ` is a prompt of Python as long as no line has a mark: both are text,
    the former without that mark. So are the three marks before and after a heading of GroupWise,
    such as `>>> Ann 5/3/2024 >>>`.

    >>> [(line.marks, line.text) for line in marked_lines("No.\\n> Yes?\\n>> > Well\\n")]
    [(0, 'No.'), (1, 'Yes?'), (3, 'Well')]
    """
    return list(_lines(body))


def _lines(body: str) -> Iterator[Line]:
    start = 0
    before = limit = 0
    for line in body.splitlines(keepends=True):
        text = _INVISIBLE.sub("", line.rstrip("\r\n\v\f\x1c\x1d\x1e\x85\u2028\u2029"))
        marks = 0
        match = _MARKS.match(text)
        heading = len(text) <= _MAX_HEADING and _GROUPWISE.fullmatch(text)
        is_text = (before == 0 and _ENVELOPE.match(text)) or (limit == 0 and _PROMPT.match(text))
        if is_text:
            text = text.removeprefix(">") if _ENVELOPE.match(text) else text
        elif heading:
            marks = text[: heading.start(1)].count(">")
            text = heading[1]
        elif match:
            marks = match[0].count(">")
            text = text[match.end() :]
        yield Line(start, start + len(line), marks, text)
        start += len(line)
        before = marks
        limit = max(limit, marks)


# Words that mail programs write around quoted messages, by what they mean, in many languages.


def _set(words: str) -> frozenset[str]:
    return frozenset(word.strip().casefold() for word in words.split("|"))


FROM = _set(
    "From|Von|De|De la|Da|Van|Från|Fra|Od|Lähettäjä|Feladó|Kimden|Gönderen|От|От кого|Від"
    "|Від кого|Από|من|מאת|发件人|發件人|寄件者|寄件人|差出人|送信者|보낸 사람|보낸사람"
    "|Expéditeur|Absender|Remitente|Mittente|Afzender|Avsändare|Afsender|Avsender|Nadawca"
    "|Odesílatel|ผู้ส่ง|จาก|Từ|Dari|Expeditor"
)
SENT = _set(
    "Sent|Date|Sent at|Gesendet|Datum|Gesendet am|Envoyé|Envoyé le|Enviado|Enviado el|Enviado em"
    "|Enviada|Enviada em|Fecha|Data|Inviato|Data invio|Verzonden|Skickat|Sendt|Dato|Wysłano|Wysłane"
    "|Odesláno|Lähetetty|Päivä|Päivämäärä|Päiväys|Elküldve|Dátum|Gönderildi|Gönderilme|Tarih"
    "|Отправлено|Дата|Надіслано|发送时间|日期|发送日期|時間|寄件日期|傳送時間|送信日時|日時|日付"
    "|보낸 날짜|날짜|보낸날짜|Στάλθηκε|Ημερομηνία|تاريخ الإرسال|التاريخ|תאריך|נשלח|Trimis|วันที่"
    "|ส่ง|Ngày|Tanggal"
)
TO = _set(
    "To|An|À|A|Para|Aan|Till|Til|Do|Komu|Vastaanottaja|Címzett|Kime|Кому|收件人|收件者|宛先"
    "|받는 사람|받는사람|Προς|إلى|אל|Pour|Către|Destinataire|Empfänger|Destinatario|Destinatário"
    "|Odbiorca|Alıcı|ถึง|Đến|Kepada"
)
SUBJECT = _set(
    "Subject|Betreff|Objet|Sujet|Asunto|Assunto|Oggetto|Onderwerp|Ämne|Emne|Temat|Předmět|Aihe"
    "|Thema|Tárgy|Konu|Тема|主题|主題|主旨|件名|제목|Θέμα|الموضوع|נושא|Subiect|เรื่อง|Chủ đề|Subjek"
)
OTHERS = _set(
    "Cc|Bcc|Kopie|Copie|Copie à|Cci|Kopia|Kopi|Kopio|Másolatot kap|Bilgi|Копия|Копія|抄送|副本"
    "|참조|Κοιν.|Κοινοποίηση|نسخة|עותק|CC:|Reply-To|Antwort an|Répondre à|Importance|Wichtigkeit"
    "|Priorität|Priority|Attachments|Anlagen|Anhänge|Pièces jointes|Allegati|Bijlagen"
    "|Archivos adjuntos|Organization|Message-ID|Resent-From|Newsgroups|Please respond to"
)

_WROTE = (
    "wrote|writes|said|pisze|schrieb|schreibt|a écrit|écrit|escribió|escribio|escreveu|ha scritto"
    "|scrisse|schreef|skrev|napisał|napisała|napisał(a)|napisal|napsal|napsala|napsal(a)"
    "|kirjoitti|ezt írta|írta|şunu yazdı|yazdı|пишет|написал|написала|написав|пише|έγραψε"
    "|a scris|כתב|כתבה|كتب|تمت كتابة ما يلي|đã viết|写道|寫道|作成|님이 작성|menulis|va escriure"
    "|wrote on|geschreven|schrieben|skreiv|пишут"
)
WROTE = re.compile(
    "|".join(rf"(?<!\w){re.escape(word)}" for word in _WROTE.split("|")), re.IGNORECASE
)

_ORIGINAL = (
    "original message|ursprüngliche nachricht|original-nachricht|originalnachricht"
    "|message d'origine|message d’origine|message original|mensaje original|mensagem original"
    "|messaggio originale|oorspronkelijk bericht|originalmeddelande|ursprungligt meddelande"
    "|oprindelig meddelelse|opprinnelig melding|wiadomość oryginalna|oryginalna wiadomość"
    "|původní zpráva|alkuperäinen viesti|eredeti üzenet|özgün ileti|orijinal mesaj"
    "|исходное сообщение|оригинальное сообщение|邮件原件|原始邮件|原始郵件|元のメッセージ"
    "|원본 메시지|αρχικό μήνυμα|original appointment"
)
_FORWARDED = (
    "forwarded message|forwarded by|weitergeleitete nachricht|weitergeleiteten nachricht"
    "|message transféré|message réexpédié|mensaje reenviado|forwarded|mensagem encaminhada"
    "|messaggio inoltrato|doorgestuurd bericht|vidarebefordrat|videresendt|przekazana"
    "|przekazywana|přeposlaná|předaná zpráva|välitetty|továbbított|iletilen|yönlendirilen"
    "|пересылаемое|пересланное|転送|转发|轉寄|轉發|전달된|προωθημένο|missatge reenviat"
)
ORIGINAL = re.compile(_ORIGINAL, re.IGNORECASE)
FORWARDED = re.compile(_FORWARDED, re.IGNORECASE)
FORWARD_SUBJECT = re.compile(
    r"\s*(?:fwd?|wg|tr|rv|enc|i|vs|doorst|vb|pd|továbbítás|转发|轉寄|転送|전달)\s*[:：]",
    re.IGNORECASE,
)
"""What a program puts before the subject of a mail that is passed on."""
SUBJECT_MARKS = re.compile(
    r"\s*(?:(?:re|aw|antw|sv|vs|odp|ré|rép|res|rif|r|ynt|ref|fwd?|wg|tr|rv|enc|i|doorst|vb|pd"
    r"|ang|továbbítás|回复|回覆|答复|转发|轉寄|転送|返信|전달|회신)\s*(?:\[\d+\]"
    r"|\(\d+\))?\s*[:：]|\[[^\]]{1,40}\])\s*",
    re.IGNORECASE,
)
"""One mark before a subject: of a reply, of a forwarded mail, or the name of a mailing list."""

DEVICE = re.compile(
    r"(?:sent (?:from|via|by|with) (?:my |the |outlook|mail|yahoo|proton|samsung|a )"
    r"|get outlook for |von meinem .{1,30} gesendet|gesendet (?:von|mit|über) "
    r"|(?:diese nachricht wurde )?von meinem |envoyé (?:de|depuis|à partir) |enviado (?:desde|do"
    r"|de) |inviato da(?:l mio)? |verzonden (?:vanaf|met|via) |verstuurd vanaf |skickat från "
    r"|sendt fra |wysłane z |odesláno z |отправлено (?:с|из) |надіслано з |lähetetty .{1,30}$"
    r"|iphoneから送信|发自我的|從我的 ?iphone|나의 iphone에서|στάλθηκε από "
    r"|iphone'umdan gönderildi|ipad'imden gönderildi)",
    re.IGNORECASE,
)
"""The beginning of a line that a telephone or program adds below a mail."""

_CLOSINGS = (
    "best|best regards|kind regards|regards|warm regards|warmest regards|many thanks|thanks"
    "|thank you|thanks again|cheers|sincerely|yours sincerely|yours faithfully|best wishes"
    "|all the best|with best regards|with kind regards|br|thx|mit freundlichen grüßen"
    "|mit freundlichem gruß|freundliche grüße|viele grüße|beste grüße|liebe grüße"
    "|herzliche grüße|lg|mfg|vg|gruß|grüße|schöne grüße|cordialement|bien cordialement"
    "|bien à vous|cdlt|salutations|meilleures salutations|merci|saludos|un saludo"
    "|saludos cordiales|atentamente|gracias|cordiali saluti|distinti saluti|saluti|un saluto"
    "|grazie|atenciosamente|cumprimentos|abraços|obrigado|obrigada|met vriendelijke groet"
    "|vriendelijke groeten|groeten|groet|med vänliga hälsningar|vänliga hälsningar|hälsningar"
    "|mvh|med venlig hilsen|venlig hilsen|med vennlig hilsen|hilsen|pozdrawiam|z poważaniem"
    "|s pozdravem|ystävällisin terveisin|terveisin|üdvözlettel|saygılarımla|с уважением"
    "|с наилучшими пожеланиями|з повагою|με εκτίμηση|cu stimă|よろしくお願いします"
    "|よろしくお願いいたします|此致|祝好|谢谢|감사합니다"
)
CLOSINGS = _set(_CLOSINGS)
"""Lines above the name at the end of a mail, without their comma."""
POSTSCRIPT = re.compile(
    r"\s*(?:(?:p\.?\s?){1,3}s\b\.?|n\.?\s?b\b\.?|p\.-?\s?d\b\.?|ps\d\b|з\.?\s?ы\b\.?|追伸|又及|附言|추신)"
    r"(?!\w)",
    re.IGNORECASE,
)
"""The beginning of a line that is written below the name."""

_CONFIDENTIAL = (
    r"confidential|privileged|vertraulich|confidentiel|confidencial|riservat|vertrouwelijk"
    r"|konfidentiell|fortrolig|poufn|důvěrn|luottamuksel|bizalmas|gizli|конфиденциальн"
    r"|конфіденційн|機密|机密|保密|기밀|εμπιστευτικ|confidenţial|confidențial"
)
_RECIPIENT = (
    r"intended (?:only )?(?:for|recipient|solely)|addressee|named above|not the intended"
    r"|received this (?:e-?mail|message) in error|bestimmt(?:e|er|en)? |(?:richtige"
    r"|vorgesehene)[rn]? (?:adressat|empfänger)|irrtümlich|destinataire|par erreur|destinatari"
    r"|por error|por engano|per errore|geadresseerde|bestemd voor|abusievelijk|avsedd för"
    r"|mottagare|tiltenkt|beregnet til|adresat|omyłkow|omylem|vastaanottaj|címzett|yanlışlıkla"
    r"|получател|ошибочно|адресат|помилково|収信|受信者|収件人|收件人|误收|수신인|παραλήπτ"
    r"|destinatar"
)
_ACTION = (
    r"delete|destroy|notify the sender|disclos|distribution|copying|unauthori[sz]ed|lösch"
    r"|vernicht|weitergabe|unbefugt|supprim|détrui|elimin|borr|destru|apag|cancell|verwijder"
    r"|vernietig|radera|slett|usun|usuń|smaž|poist|töröl|sil(?:iniz|in)|удалит|видал|削除|删除"
    r"|삭제|διαγρ|ștergeț|liability|haftung|responsab|aansprakel|viruses|viren"
)
DISCLAIMER = tuple(
    re.compile(phrase, re.IGNORECASE) for phrase in (_CONFIDENTIAL, _RECIPIENT, _ACTION)
)
"""What disclaimers speak of: secrecy, whom a mail is for, what others must do with it."""
LIST_FOOTER = re.compile(
    r"mailing list|listinfo|unsubscribe|groups\.google\.com"
    r"|you received this message because you are subscribed|abmelden|désabonner|mailman|/lists/",
    re.IGNORECASE,
)


# The lines that a mail program writes above the message it quotes or forwards.

HeadingKind: TypeAlias = Literal["quoted", "forwarded", "end"]
_MAX_LINES, _MAX_CHARS, _MAX_HEADER, _MAX_DATE = 4, 400, 16, 60
# Archives of mailing lists write `@` as ` at `.
_ADDRESS = re.compile(r"[^\s<>()@,;:]+@[^\s<>()@,;:]+\w|<\S+ at \S+>")
_DATE = re.compile(
    r"\b(?:19|20)\d\d\b|\d{4}年|\b\d{1,2}[./-]\s?\d{1,2}[./-]\s?\d{2,4}\b|\b\d{4}-\d\d-\d\d\b"
)
_TIME = re.compile(r"\d{1,2}\s?[:.h時点]\s?\d{2}|\d{1,2}\s?(?:[ap]\.?\s?m\b)", re.IGNORECASE)
_LABEL = re.compile(r"[ \t]*\*{0,2}([^\s:：*][^\n:：*]{0,24}?)\s*\*{0,2}\s*[:：]\*{0,2}(.*)")
_RULE = re.compile(r"\s*(?:[-_=*]\s?){3,}\s*$")
_DASHES = re.compile(r"\s*[-=_*]{2,}\s*(\S.{0,198}?)\s*[-=_*]{2,}\s*$")
_GROUPWISE_HEADING = re.compile(r">>>.*>>>\s*$")
_DATED = re.compile(r"\s*message du \d", re.IGNORECASE)  # Orange, above a header
_END = re.compile(r"end (?:of )?(?:the )?(?:forwarded|original) message", re.IGNORECASE)
_BEGIN = re.compile(
    r"\s*(?:begin forwarded message|anfang der weitergeleiteten (?:nachricht|e-?mail)"
    r"|début du (?:message|courriel|e-?mail) (?:réexpédié|transféré)"
    r"|inizio (?:il )?messaggio inoltrato|inicio del mensaje reenviado"
    r"|início da mensagem (?:encaminhada|reencaminhada)|begin doorgestuurd bericht"
    r"|vidarebefordrat (?:brev|mejl)|start på videresendt besked|videresendt melding"
    r"|début du message transmis|転送されたメッセージ|下面是被转发的邮件"
    r"|начало переадресованного сообщения|początek przekazywanej wiadomości)\s*[:：]?\s*$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Heading:
    """The lines above a quoted or forwarded message: how many, and what they say follows; `end` is
    the line below a forwarded one.

    `needs_marks`: it is one only if lines with more quote marks follow. `is_bare`: it says that a
    message follows, but not whose. `subject`: the subject of the message, empty where it is not
    given.
    """

    lines: int
    kind: HeadingKind
    needs_marks: bool = False
    is_bare: bool = False
    subject: str = ""


def heading_at(lines: Sequence[Line], position: int) -> Heading | None:
    """Return the heading that begins at a line, None if none does.

    One of four: a line such as `-----Original Message-----` or `Begin forwarded message:`, with
    the header below it, if there is one, `---- On Monday Ann wrote ----`, or GroupWise's `>>> Ann
    5/3/2024 >>>`; a header of its own, `From: ...` with two more fields, one of them the date or
    the subject; the header of Lotus Notes, whose labels stand above their values; `On Monday ...
    Ann <ann@x.org> wrote:`, over at most four lines. All lines have as many quote marks as the
    first.
    """
    marks = lines[position].marks
    if lines[position].is_blank or len(lines[position].text) > _MAX_CHARS:
        return None
    return (
        _separator(lines, position, marks)
        or _header_heading(lines, position, marks)
        or _notes_heading(lines, position, marks)
        or _attribution(lines, position, marks)
    )


def _separator(lines: Sequence[Line], position: int, marks: int) -> Heading | None:
    """Return the heading of a line of dashes with words in it, or of dashes alone."""
    text = lines[position].text
    phrase = _DASHES.match(text)
    said = phrase[1] if phrase else ""
    is_named = bool(FORWARDED.search(said) or ORIGINAL.search(said))
    is_begin = bool(_BEGIN.match(text))
    if is_named and _END.match(said):
        return Heading(1, "end")
    if _GROUPWISE_HEADING.match(text) and _DATE.search(text):
        return Heading(1, "quoted")
    if WROTE.search(said) and (heading := _judged(said, 1)) and not heading.needs_marks:
        return heading
    if not (is_named or is_begin or phrase or _RULE.match(text) or _DATED.match(text)):
        return None
    following = _after_blanks(lines, position + 1, marks)
    header = _header_lines(lines, following, marks)
    kind: HeadingKind = "forwarded" if is_begin or FORWARDED.search(said) else "quoted"
    if header:
        return Heading(
            following + header - position, kind, subject=_subject(lines[following:], header)
        )
    if is_named or is_begin:
        attribution = _attribution(lines, following, marks) if following < len(lines) else None
        more = following + attribution.lines - position if attribution else 1
        return Heading(more, kind, is_bare=attribution is None)
    return None


def _header_heading(lines: Sequence[Line], position: int, marks: int) -> Heading | None:
    count = _header_lines(lines, position, marks)
    subject = _subject(lines[position:], count)
    return Heading(count, "quoted", subject=subject) if count else None


def _notes_heading(lines: Sequence[Line], position: int, marks: int) -> Heading | None:
    """Return the heading of Lotus Notes: the sender, the date and time below, then labels without a
    colon, each above its value or, after a tabulator, in the same line; `To` and the subject are
    needed.
    """
    date = lines[position + 1].text if position + 1 < len(lines) else ""
    if not (_DATE.search(date) and _TIME.search(date)) or len(date) > _MAX_DATE:
        return None
    has_field = has_recipients = False
    for here in range(position + 2, min(position + 2 + _MAX_HEADER, len(lines))):
        label, tab, value = lines[here].text.strip().partition("\t")
        label = label.casefold()
        if lines[here].marks != marks:
            break
        if label in SUBJECT and has_recipients:
            below = lines[here + 1 : here + 2]
            has_value = not tab and bool(below) and below[0].marks == marks
            subject = below[0].text.strip() if has_value else value
            return Heading(here + 1 + has_value - position, "quoted", subject=subject)
        if label in TO or label in OTHERS:
            has_field = True
            has_recipients |= label in TO
        elif not has_field and not lines[here].is_blank:
            break
    return None


def _subject(lines: Sequence[Line], count: int) -> str:
    """Return the subject that a header of so many lines states."""
    for line in lines[:count]:
        match = _LABEL.match(line.text[:_MAX_CHARS])
        if match and _field_kind(line.text) == "subject":
            return match[2]
    return ""


def _header_lines(lines: Sequence[Line], position: int, marks: int) -> int:
    """Return the number of lines of the header that begins at a line; 0 if none does.

    It begins with the sender, or in a few programs with another field; it has the sender, at least
    three fields, and among them the date or the subject. Lines that continue a field, and empty
    lines between the fields, belong to it.
    """
    fields: list[str] = []
    last = position
    here = position
    while here < len(lines) and here - position < _MAX_HEADER and lines[here].marks == marks:
        line = lines[here]
        field = _field_kind(line.text)
        if field:
            fields.append(field)
            last = here
            if len(fields) == 4 and "from" not in fields:
                return 0
        elif line.is_blank:
            if here > last + 1 or len(fields) >= 3 or not fields:
                break
        elif not fields or not _continues(line.text, fields[-1]) or lines[here - 1].is_blank:
            break
        else:
            last = here
        here += 1
    is_header = (
        len(fields) >= 3 and "from" in fields[:4] and ("sent" in fields or "subject" in fields)
    )
    return last - position + 1 if is_header else 0


def _after_blanks(lines: Sequence[Line], position: int, marks: int) -> int:
    """Return the first line from an index on that has text, after at most two empty ones."""
    stop = min(position + 2, len(lines))
    while position < stop and lines[position].is_blank and lines[position].marks <= marks:
        position += 1
    return position


def _field_kind(text: str) -> str:
    """Return which field of a header a line is, empty if none."""
    match = _LABEL.match(text[:_MAX_CHARS])
    if not match:
        return ""
    label = match[1].strip().casefold()
    kinds = (
        ("from", FROM),
        ("sent", SENT),
        ("to", TO),
        ("subject", SUBJECT),
        ("other", OTHERS),
    )
    return next((kind for kind, labels in kinds if label in labels), "")


def _continues(text: str, field: str) -> bool:
    """Return whether a line goes on with a field: more addresses, or a subject that is indented."""
    if text[:1] in (" ", "\t"):
        return True
    return field in ("to", "other", "from") and bool(
        _ADDRESS.search(text[:_MAX_CHARS]) or ";" in text
    )


def _attribution(lines: Sequence[Line], position: int, marks: int) -> Heading | None:
    """Return the heading of `On ... wrote:`, which ends with a colon within four lines.

    Lines above it that do not begin it are not of it.
    """
    parts: list[str] = []
    for line in lines[position : position + _MAX_LINES]:
        if line.marks != marks or line.is_blank:
            return None
        parts.append(line.text.strip())
        if sum(map(len, parts)) > _MAX_CHARS:
            return None
        if parts[-1].rstrip("* \u00a0").endswith((":", "：")):
            break
    else:
        return None
    heading = _judged(" ".join(parts), len(parts))
    if heading is None or _begins(parts[0]):
        return heading
    shorter = [_judged(" ".join(parts[start:]), 0) for start in range(1, len(parts))]
    is_below = any(
        other is not None and other.needs_marks <= heading.needs_marks for other in shorter
    )
    return None if is_below else heading


def _begins(first: str) -> bool:
    """Return whether a line has the date or the address of an attribution that ends below it."""
    return bool(_DATE.search(first) or _TIME.search(first) or _ADDRESS.search(first))


def _judged(text: str, count: int) -> Heading | None:
    has_verb = bool(WROTE.search(text))
    has_date = bool(_DATE.search(text))
    has_address = bool(_ADDRESS.search(text))
    if has_verb and (has_date or (_TIME.search(text) and has_address)):
        return Heading(count, "quoted")
    if has_date and has_address and _TIME.search(text):
        return Heading(count, "quoted")
    if has_verb or has_address:
        return Heading(count, "quoted", needs_marks=True)
    return None


# Quote marks with the initials or the name of the sender before them, such as `AL> `.

_NAMED = re.compile(r"[ \t]{0,2}([^\W\d_]{2,20})(>+)(?:[ \t]|$)")
_MAX_INITIALS, _MAX_ABOVE = 4, 4


def with_initials(lines: Sequence[Line]) -> list[Line]:
    """Return lines with marks such as `AL> ` counted as quote marks, and without them.

    The first line below a heading says which name is a mark: capitals, up to four, or a word of the
    heading. From there on that name is one. Other names before `>>` stay in the text, since they
    say who wrote it.
    """
    out: list[Line] = []
    name = ""
    above: list[int] = []
    for index, line in enumerate(lines):
        match = _NAMED.match(line.text)
        if match and (match[1] == name or _is_mark(lines, above, line, match[1])):
            name = match[1]
            out.append(
                replace(line, marks=line.marks + len(match[2]), text=line.text[match.end() :])
            )
        elif match and name and match[1].isupper() and len(match[2]) > 1:
            text = f"{match[1]} {line.text[match.end() :]}"
            out.append(replace(line, marks=line.marks + len(match[2]), text=text))
        else:
            out.append(line)
        if not line.is_blank:
            above = [*above[1 - _MAX_ABOVE :], index]
    return out


def _is_mark(lines: Sequence[Line], above: Sequence[int], line: Line, name: str) -> bool:
    """Return whether a name before `>` is of the sender whom a heading right above it names."""
    if not above or lines[above[-1]].marks != line.marks:
        return False
    for start in above:
        heading = heading_at(lines, start)
        if heading is not None and start + heading.lines == above[-1] + 1:
            said = " ".join(part.text for part in lines[start : start + heading.lines])
            is_word = name.casefold() in re.findall(r"[^\W\d_]+", said.casefold())
            return is_word or (name.isupper() and len(name) <= _MAX_INITIALS)
    return False


# Words by which segments of mails are compared, and runs of them.

RUN = 5
_COMBINING_MARKS = "".join(
    f"{chr(first)}-{chr(last)}"
    for first, last in chain(category_ranges(MARK), category_ranges(SPACING_MARK))
)
_LETTERS = rf"[^\W\d_](?:[^\W\d_]|[{_COMBINING_MARKS}])*"
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u9fff"
    "\U00020000-\U0003ffff"
)
_SIGNS = (
    "[!?%‰&@§|^°¬±×÷<>$¢£¤¥\u058f\u060b\u20a0-\u20cf\u2190-\u23ff\u25a0-\u27bf\u2800-\u2bff"
    "\ue000-\uf8ff\U0001f000-\U0001faff]"
)
_NEGATIVE = r"\((?=[^\d()]{0,5}\d[\d.,\s]*[^\d()]{0,5}\))"  # (500), as accountants write -500
_FACE = r"(?<!\S)[:;]'?-?[()|/](?=\s|[.,!?]|$)"
_WORD = re.compile(
    r"-?(?:(?<![\w.])\.)?\d+(?:[.,:/]\d+)*"
    rf"|[{_UNSPACED}]|{_LETTERS}(?:'{_LETTERS})*"
    rf"|{_SIGNS}|=+|\++|~+|\#+|(?<![\w)\]])-+(?=[^\W_]|>)|(?<=<)-+|(?<=\w)[*/\\](?=\w)"
    rf"|(?<=\d)['′\"]+|{_NEGATIVE}|{_FACE}"
)
_LETTER_OR_DIGIT = re.compile(r"[^\W_]")
_SAME = str.maketrans("‐‑‒–−’”", "-----'\"")
_POWER = re.compile("(?<=[0-9])(?=[⁺⁻]?[⁰¹²³⁴-⁹])")
_FRACTION = re.compile("(?<=[0-9])(?=[¼-¾⅐-⅞])")
_BRACKETED = re.compile(r"<(?=[^\s<>]*(?:@|://|mailto:|www\.))([^\s<>]*)>")


def segment_words(text: str) -> list[str]:
    """Return the words of a text that a mail program keeps when it quotes it.

    Wrapping, blanks, punctuation, emphasis, case and compatibility forms (NFKC) make no difference.
    Symbols do, each is a word: of currencies and arithmetic, shapes such as `■`, Braille,
    characters for private use (ticks of Wingdings), `%`, `&`, `@`, `!`, `?` and the like, a minus
    before a number, word or `>`, `/` and `*` within one, `"` behind a number, the bracket of
    `(500)`, `^` before the power in `10²`, and faces such as `:-)`. The brackets of `<ann@x.org>`
    are none. In scripts written without spaces each character is a word.

    >>> segment_words("We do *not* pay\\n-5 %, “don’t” ask <ann@x>.")
    ['we', 'do', 'not', 'pay', '-5', '%', "don't", 'ask', 'ann', '@', 'x']
    """
    apart = _FRACTION.sub(" ", _POWER.sub("^", text))
    folded = unicodedata.normalize("NFKC", apart).casefold().translate(_SAME)
    return _WORD.findall(_BRACKETED.sub(r" \1 ", folded))


def without_symbols(words: Iterable[str]) -> list[str]:
    """Return the words that have a letter or digit.

    >>> without_symbols(["why", "?", "=="])
    ['why']
    """
    return [word for word in words if _LETTER_OR_DIGIT.search(word)]


def formatted(words: Iterable[str]) -> str:
    """Return words as one string that holds another such string where it holds its words in a row.

    >>> formatted(["to", "be"]) in formatted(["not", "to", "be"])
    True
    >>> formatted(["o"]) in formatted(["to"])
    False
    """
    return f" {' '.join(words)} "


def runs(words: Sequence[str], width: int) -> Iterator[tuple[str, ...]]:
    """Yield every run of so many words.

    >>> list(runs(["a", "b", "c"], 2))
    [('a', 'b'), ('b', 'c')]
    """
    for start in range(len(words) - width + 1):
        yield tuple(words[start : start + width])


def key_runs(words: Sequence[str], limit: int = 1) -> list[tuple[str, ...]]:
    """Return at most so many runs of `RUN` words, or of all where there are fewer, by which a text
    is looked up: whatever holds all words in a row holds them. None of no words.

    They have the lowest CRC-32, ties by the words: seldom common ones.
    """
    width = min(RUN, len(words))
    return nsmallest(limit, set(runs(words, width)), key=_key_order) if width else []


def _key_order(run: tuple[str, ...]) -> tuple[int, tuple[str, ...]]:
    return crc32(" ".join(run).encode("utf-8", "replace")), run


def key_run(words: Sequence[str]) -> tuple[str, ...]:
    """Return the first of `key_runs`; empty for no words."""
    return next(iter(key_runs(words)), ())
