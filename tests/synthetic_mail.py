"""Synthetic mail with known threads and segments, as real clients write it.

The formats are those that Gmail, Outlook, Apple Mail, Thunderbird and mutt produce in twelve
languages; nothing here is taken from `indexer.mail`, whose word lists were written apart. Each
thread mixes clients and languages, so that Outlook quotes what Gmail has quoted with marks, and so
on. Each message carries the truth: its segments in order, its parent, and its attachments.
"""

from __future__ import annotations

import random
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from email.message import EmailMessage
from email.utils import format_datetime
from html import escape

CLIENTS = ("gmail", "outlook", "outlook-classic", "apple", "thunderbird", "mutt")
FIRST = ["Ann", "Bo", "Carla", "Dmitri", "Elif", "François", "Grażyna", "Hana", "Igor", "Jürgen"]
FIRST += ["Kei", "Lucía", "Márton", "Nour"]
LAST = ["Lee", "Berg", "Conti", "Volkov", "Kaya", "Dupont", "Nowak", "Sato", "Petrov", "Müller"]
LAST += ["Mori", "Gómez", "Szabó", "Haddad"]

# Sentences with a number, a place and a day, so that each is said once; {not} may be dropped.
SENTENCES = {
    "en": [
        "We should {not} ship order {n} to {p} before {d}.",
        "The invoice {n} from {p} was {not} paid on {d} as agreed.",
        "Could you check container {n} in {p} and tell me by {d}?",
        "The meeting about file {n} takes place in {p} on {d}.",
        "Our lawyers in {p} do {not} accept clause {n} of the draft of {d}.",
    ],
    "de": [
        "Wir sollten den Auftrag {n} {not} vor {d} nach {p} liefern.",
        "Die Rechnung {n} aus {p} wurde am {d} {not} bezahlt.",
        "Kannst du den Container {n} in {p} prüfen und mir bis {d} Bescheid geben?",
        "Die Besprechung zur Akte {n} findet am {d} in {p} statt.",
    ],
    "fr": [
        "Il ne faut {not} livrer la commande {n} à {p} avant le {d}.",
        "La facture {n} de {p} n'a {not} été réglée le {d}.",
        "Pourrais-tu vérifier le conteneur {n} à {p} et me répondre avant le {d} ?",
        "La réunion sur le dossier {n} aura lieu à {p} le {d}.",
    ],
    "es": [
        "{not} debemos enviar el pedido {n} a {p} antes del {d}.",
        "La factura {n} de {p} {not} se pagó el {d} como acordamos.",
        "¿Puedes revisar el contenedor {n} en {p} y avisarme antes del {d}?",
    ],
    "it": [
        "{not} dobbiamo spedire l'ordine {n} a {p} prima del {d}.",
        "La fattura {n} di {p} {not} è stata pagata il {d}.",
        "Puoi controllare il container {n} a {p} e farmi sapere entro il {d}?",
    ],
    "pt": [
        "{not} devemos enviar o pedido {n} para {p} antes de {d}.",
        "A fatura {n} de {p} {not} foi paga em {d} como combinado.",
        "Podes verificar o contentor {n} em {p} e responder até {d}?",
    ],
    "nl": [
        "We moeten order {n} {not} vóór {d} naar {p} sturen.",
        "De factuur {n} uit {p} is op {d} {not} betaald.",
        "Kun je container {n} in {p} nakijken en het me voor {d} laten weten?",
    ],
    "pl": [
        "{not} powinniśmy wysyłać zamówienia {n} do {p} przed {d}.",
        "Faktura {n} z {p} {not} została zapłacona {d}.",
        "Czy możesz sprawdzić kontener {n} w {p} i dać mi znać do {d}?",
    ],
    "sv": [
        "Vi bör {not} skicka order {n} till {p} före {d}.",
        "Fakturan {n} från {p} betalades {not} den {d}.",
        "Kan du kontrollera container {n} i {p} och svara före {d}?",
    ],
    "ru": [
        "{not} следует отправлять заказ {n} в {p} до {d}.",
        "Счёт {n} из {p} {not} был оплачен {d}.",
        "Проверьте, пожалуйста, контейнер {n} в {p} и ответьте до {d}.",
    ],
    "ja": [
        "注文{n}は{d}より前に{p}へ発送してください。",
        "{p}からの請求書{n}は{d}に支払われました。",
        "{p}のコンテナ{n}を確認して、{d}までに知らせてください。",
    ],
    "zh": [
        "订单{n}请在{d}之前发往{p}。",
        "来自{p}的发票{n}已于{d}付款。",
        "请检查{p}的集装箱{n}，并在{d}之前告诉我。",
    ],
}
NOT = {
    "en": "not", "de": "nicht", "fr": "pas", "es": "No", "it": "Non", "pt": "Não", "nl": "niet",
    "pl": "Nie", "sv": "inte", "ru": "Не", "ja": "", "zh": "",
}  # fmt: skip
PLACES = ["Hamburg", "Porto", "Gdynia", "Genoa", "Antwerp", "Marseille", "Cádiz", "Kobe", "Ningbo"]
PLACES += ["Odesa", "Malmö", "Trieste"]
GREETINGS = {
    "en": ["Hi {who},", "Dear {who},", "Hello {who}"],
    "de": ["Hallo {who},", "Liebe Kollegen,"],
    "fr": ["Bonjour {who},"],
    "es": ["Hola {who}:"],
    "it": ["Ciao {who},"],
    "pt": ["Olá {who},"],
    "nl": ["Beste {who},"],
    "pl": ["Cześć {who},"],
    "sv": ["Hej {who},"],
    "ru": ["Здравствуйте, {who}!"],
    "ja": ["{who}様"],
    "zh": ["{who}，您好："],
}
FAREWELLS = {
    "en": ["Best regards,", "Thanks,", "Cheers,", "Talk soon,", "Kind regards"],
    "de": ["Viele Grüße", "Mit freundlichen Grüßen", "Bis dann"],
    "fr": ["Cordialement,", "Bien à toi,", "A bientôt"],
    "es": ["Saludos,", "Un abrazo,"],
    "it": ["Cordiali saluti", "A presto,"],
    "pt": ["Cumprimentos,", "Um abraço,"],
    "nl": ["Met vriendelijke groet,", "Groetjes,"],
    "pl": ["Pozdrawiam", "Z poważaniem,"],
    "sv": ["Med vänliga hälsningar", "Hälsningar"],
    "ru": ["С уважением,", "Всего доброго,"],
    "ja": ["よろしくお願いいたします。"],
    "zh": ["此致", "祝商祺"],
}
DEVICES = {
    "en": "Sent from my iPhone", "de": "Von meinem iPhone gesendet", "fr": "Envoyé de mon iPhone",
    "es": "Enviado desde mi iPhone", "it": "Inviato da iPhone", "pt": "Enviado do meu iPhone",
    "nl": "Verstuurd vanaf mijn iPhone", "pl": "Wysłane z iPhone'a",
    "sv": "Skickat från min iPhone",
    "ru": "Отправлено с iPhone", "ja": "iPhoneから送信", "zh": "发自我的 iPhone",
}  # fmt: skip
NOTICES = {
    "en": (
        "This e-mail and any files transmitted with it are confidential and intended "
        "solely for the use of the individual or entity to whom they are addressed. If "
        "you have received this email in error please notify the system manager and "
        "delete it."
    ),
    "de": (
        "Diese E-Mail enthält vertrauliche und/oder rechtlich geschützte Informationen. "
        "Wenn Sie nicht der richtige Adressat sind oder diese E-Mail irrtümlich erhalten "
        "haben, informieren Sie bitte sofort den Absender und vernichten Sie diese Mail."
    ),
    "fr": (
        "Ce message et ses pièces jointes sont confidentiels et destinés exclusivement à "
        "leurs destinataires. Si vous avez reçu ce message par erreur, merci d'en avertir"
        " l'expéditeur et de le supprimer."
    ),
    "es": (
        "Este mensaje y sus anexos son confidenciales y van dirigidos exclusivamente a su"
        " destinatario. Si lo ha recibido por error, le rogamos que lo comunique al "
        "remitente y proceda a su eliminación."
    ),
    "it": (
        "Le informazioni contenute in questo messaggio sono riservate e destinate "
        "esclusivamente al destinatario. Se avete ricevuto questa e-mail per errore, vi "
        "preghiamo di cancellarla e di avvisare il mittente."
    ),
    "nl": (
        "De informatie in dit bericht is vertrouwelijk en uitsluitend bestemd voor de "
        "geadresseerde. Indien u dit bericht ten onrechte ontvangt, wordt u verzocht de "
        "afzender te informeren en het bericht te vernietigen."
    ),
    "pt": (
        "Esta mensagem é confidencial e destina-se exclusivamente ao seu destinatário. Se"
        " a recebeu por engano, por favor elimine-a e avise o remetente."
    ),
}
WEEK = {
    "en": "Mon", "de": "Mo.", "fr": "lun.", "es": "lun", "it": "lun", "pt": "seg.", "nl": "ma",
    "pl": "pon.", "sv": "mån", "ru": "пн", "ja": "月", "zh": "周一",
}  # fmt: skip
MONTH = {
    "en": "Feb", "de": "Feb.", "fr": "févr.", "es": "feb", "it": "feb", "pt": "fev.", "nl": "feb",
    "pl": "lut", "sv": "feb.", "ru": "февр.", "ja": "2", "zh": "2",
}  # fmt: skip
ATTRIBUTIONS = {
    "gmail": {
        "en": "On {w}, {m} {d}, {y} at {t} {who} <{at}> wrote:",
        "de": "Am {w}, {d}. {m} {y} um {t} Uhr schrieb {who} <{at}>:",
        "fr": "Le {w} {d} {m} {y} à {t}, {who} <{at}> a écrit :",
        "es": "El {w}, {d} {m} {y} a las {t}, {who} (<{at}>) escribió:",
        "it": "Il giorno {w} {d} {m} {y} alle ore {t} {who} <{at}> ha scritto:",
        "pt": "{who} <{at}> escreveu ({w}, {d}/02/{y} à(s) {t}):",
        "nl": "Op {w} {d} {m} {y} om {t} schreef {who} <{at}>:",
        "pl": "{w}, {d} {m} {y} o {t} {who} <{at}> napisał(a):",
        "sv": "Den {w} {d} {m} {y} kl {t} skrev {who} <{at}>:",
        "ru": "{w}, {d} {m} {y} г. в {t}, {who} <{at}>:",
        "ja": "{y}年{m}月{d}日({w}) {t} {who} <{at}>:",
        "zh": "{who} <{at}> 于{y}年{m}月{d}日{w} {t}写道：",
    },
    "apple": {
        "en": "On {m} {d}, {y}, at {t}, {who} <{at}> wrote:",
        "de": "Am {d}.02.{y} um {t} schrieb {who} <{at}>:",
        "fr": "Le {d} {m} {y} à {t}, {who} <{at}> a écrit :",
        "es": "El {d} {m} {y}, a las {t}, {who} <{at}> escribió:",
        "it": "Il giorno {d} {m} {y}, alle ore {t}, {who} <{at}> ha scritto:",
        "pt": "Em {d} de {m} de {y}, à(s) {t}, {who} <{at}> escreveu:",
        "nl": "Op {d} {m} {y}, om {t} heeft {who} <{at}> het volgende geschreven:",
        "pl": "Wiadomość napisana przez {who} <{at}> w dniu {d} {m} {y}, o godz. {t}:",
        "sv": "{d} {m} {y} kl. {t} skrev {who} <{at}>:",
        "ru": "{d} {m} {y} г., в {t}, {who} <{at}> написал(а):",
        "ja": "{y}/02/{d} {t}、{who} <{at}>のメール:",
        "zh": "{y}年{m}月{d}日 {t}，{who} <{at}> 写道：",
    },
    "thunderbird": {
        "en": "On {d}/02/{y} {t}, {who} wrote:",
        "de": "Am {d}.02.{y} um {t} schrieb {who}:",
        "fr": "Le {d}/02/{y} à {t}, {who} a écrit :",
        "es": "El {d}/2/{y} a las {t}, {who} escribió:",
        "it": "Il {d}/02/{y} {t}, {who} ha scritto:",
        "pt": "Em {d}/02/{y} {t}, {who} escreveu:",
        "nl": "Op {d}-02-{y} om {t} schreef {who}:",
        "pl": "W dniu {d}.02.{y} o {t}, {who} pisze:",
        "sv": "Den {y}-02-{d} kl. {t}, skrev {who}:",
        "ru": "{d}.02.{y} {t}, {who} пишет:",
        "ja": "On {y}/02/{d} {t}, {who} wrote:",
        "zh": "在 {y}/2/{d} {t}, {who} 写道:",
    },
}
LABELS = {
    "en": ("From", "Sent", "To", "Subject"),
    "de": ("Von", "Gesendet", "An", "Betreff"),
    "fr": ("De", "Envoyé", "À", "Objet"),
    "es": ("De", "Enviado", "Para", "Asunto"),
    "it": ("Da", "Inviato", "A", "Oggetto"),
    "pt": ("De", "Enviada", "Para", "Assunto"),
    "nl": ("Van", "Verzonden", "Aan", "Onderwerp"),
    "pl": ("Od", "Wysłano", "Do", "Temat"),
    "sv": ("Från", "Skickat", "Till", "Ämne"),
    "ru": ("От", "Отправлено", "Кому", "Тема"),
    "ja": ("差出人", "送信日時", "宛先", "件名"),
    "zh": ("发件人", "发送时间", "收件人", "主题"),
}
ORIGINAL = {
    "en": "Original Message", "de": "Ursprüngliche Nachricht", "fr": "Message d'origine",
    "es": "Mensaje original", "it": "Messaggio originale", "pt": "Mensagem original",
    "nl": "Oorspronkelijk bericht", "pl": "Wiadomość oryginalna", "sv": "Ursprungligt meddelande",
    "ru": "Исходное сообщение", "ja": "Original Message", "zh": "邮件原件",
}  # fmt: skip
APPLE_FORWARD = {
    "en": "Begin forwarded message:", "de": "Anfang der weitergeleiteten Nachricht:",
    "fr": "Début du message réexpédié :", "es": "Inicio del mensaje reenviado:",
    "it": "Inizio messaggio inoltrato:", "nl": "Begin doorgestuurd bericht:",
    "sv": "Vidarebefordrat brev:",
}  # fmt: skip
BIRD_FORWARD = {
    "en": "Forwarded Message", "de": "Weitergeleitete Nachricht", "fr": "Message transféré",
    "es": "Mensaje reenviado", "it": "Messaggio inoltrato", "nl": "Doorgestuurd bericht",
    "pl": "Treść przekazanej wiadomości", "ru": "Перенаправленное сообщение",
}  # fmt: skip
RE = {"de": "AW: ", "sv": "SV: ", "pl": "Odp: ", "nl": "Antw: "}
FW = {"outlook": "FW: ", "outlook-classic": "FW: ", "gmail": "Fwd: ", "apple": "Fwd: "}


@dataclass(frozen=True)
class Part:
    """A true segment; `text` is one line a paragraph."""

    kind: str
    depth: int
    text: str


@dataclass
class Mail:
    """A generated mail and the truth about it."""

    key: str
    thread: int
    parent: Mail | None
    client: str
    language: str
    sender: tuple[str, str]
    to: tuple[str, str]
    subject: str
    date: datetime
    parts: list[Part] = field(default_factory=list)
    plain: str = ""
    html: str = ""
    form: str = "plain"
    style: str = "top"
    attachments: list[tuple[str, bytes]] = field(default_factory=list)
    has_fields: bool = True
    is_changed: bool = False
    is_forward: bool = False

    @property
    def message_id(self) -> str:
        return f"<{self.key}@mail.example>"

    def bytes(self) -> bytes:
        message = EmailMessage()
        message["From"] = f"{self.sender[0]} <{self.sender[1]}>"
        message["To"] = f"{self.to[0]} <{self.to[1]}>"
        message["Subject"] = self.subject
        message["Date"] = format_datetime(self.date)
        message["Message-ID"] = self.message_id
        if self.parent is not None and self.has_fields:
            message["In-Reply-To"] = self.parent.message_id
            chain = [self.parent]
            while chain[0].parent is not None:
                chain.insert(0, chain[0].parent)
            message["References"] = " ".join(mail.message_id for mail in chain)
        if self.form == "html":
            message.set_content(f"<html><body>{self.html}</body></html>", subtype="html")
        else:
            message.set_content(self.plain + "\n", cte="8bit" if self.plain.isascii() else None)
        if self.form == "both":
            message.add_alternative(f"<html><body>{self.html}</body></html>", subtype="html")
        for name, data in self.attachments:
            message.add_attachment(
                data, maintype="application", subtype="octet-stream", filename=name
            )
        return message.as_bytes()


class Writer:
    """Writes threads from a seed."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.number = 0

    def person(self) -> tuple[str, str]:
        first = self.chance.choice(FIRST)
        last = self.chance.choice(LAST)
        address = f"{first}.{last}".lower().encode("ascii", "ignore").decode()
        return f"{first} {last}", f"{address}@{self.chance.choice(['acme', 'globex'])}.example"

    def sentence(self, language: str) -> str:
        self.number += 1
        template = self.chance.choice(SENTENCES[language])
        return template.format(
            n=10_000 + self.number,
            p=self.chance.choice(PLACES),
            d=f"{self.chance.randint(1, 28)}.{self.chance.randint(1, 12)}.",
            **{"not": NOT[language]},
        )

    def paragraphs(self, language: str, first_name: str) -> list[str]:
        joint = "" if language in ("ja", "zh") else " "
        texts = [
            joint.join(self.sentence(language) for _ in range(self.chance.randint(1, 4)))
            for _ in range(self.chance.randint(1, 3))
        ]
        if self.chance.random() < 0.5:
            texts.insert(0, self.chance.choice(GREETINGS[language]).format(who=first_name))
        return texts

    def ending(self, mail: Mail) -> tuple[list[str], list[str]]:
        """Return the lines of the signature and those of the disclaimer."""
        name = mail.sender[0]
        roll = self.chance.random()
        signature: list[str] = []
        if mail.client in ("thunderbird", "mutt") and roll < 0.6:
            signature = ["-- ", name, f"Tel. +49 40 {self.chance.randint(10000, 99999)}"]
        elif mail.client == "apple" and roll < 0.4:
            signature = [DEVICES[mail.language]]
        elif roll < 0.7:
            signature = [self.chance.choice(FAREWELLS[mail.language]), name]
        notice: list[str] = []
        if "outlook" in mail.client and mail.language in NOTICES and self.chance.random() < 0.4:
            notice = [NOTICES[mail.language]]
        return signature, notice

    def root(self, thread: int, date: datetime) -> Mail:
        language = self.chance.choice(list(SENTENCES))
        mail = Mail(
            key=f"t{thread}.0",
            thread=thread,
            parent=None,
            client=self.chance.choice(CLIENTS),
            language=language,
            sender=self.person(),
            to=self.person(),
            subject=self.sentence(language)[:50].rstrip(" ?.:。？，"),
            date=date,
        )
        self.fill(mail)
        return mail

    def answer(self, parent: Mail, key: str) -> Mail:
        chance = self.chance
        client = chance.choice(CLIENTS)
        language = parent.language if chance.random() < 0.8 else chance.choice(list(SENTENCES))
        is_forward = chance.random() < 0.15
        prefix = FW.get(client, "Fwd: ") if is_forward else RE.get(language, "Re: ")
        subject = parent.subject if parent.subject.startswith(prefix) else prefix + parent.subject
        mail = Mail(
            key=key,
            thread=parent.thread,
            parent=parent,
            client=client,
            language=language,
            sender=parent.to if chance.random() < 0.7 else self.person(),
            to=parent.sender,
            subject=subject,
            date=parent.date + timedelta(minutes=chance.randint(5, 3000)),
            has_fields=chance.random() >= 0.15,
            is_forward=is_forward,
        )
        self.fill(mail)
        return mail

    def fill(self, mail: Mail) -> None:
        """Write the texts of a mail below its fields."""
        chance = self.chance
        own = self.paragraphs(mail.language, mail.to[0].split()[0])
        signature, notice = self.ending(mail)
        if mail.is_forward and chance.random() < 0.3:
            own = []
        mail.form = chance.choice(["plain", "both", "html"])
        if mail.client == "mutt":
            mail.form = "plain"
        if chance.random() < 0.1:
            mail.attachments = [(f"file{self.number}.bin", chance.randbytes(40))]
        if mail.parent is None:
            top = Blocks(mail, own, signature, notice, None)
        else:
            quote = Quote(self, mail)
            if not mail.is_forward and mail.client in ("thunderbird", "mutt"):
                mail.style = chance.choice(["bottom", "bottom", "inline", "top"])
            if mail.is_forward:
                mail.attachments += mail.parent.attachments
            top = Blocks(mail, own, signature, notice, quote)
        top.write()


class Quote:
    """The quoted parent of a mail as its client writes it: heading, truth, plain text and HTML."""

    def __init__(self, writer: Writer, mail: Mail) -> None:
        assert mail.parent is not None
        self.mail = mail
        self.parent = parent = mail.parent
        self.source = parent.plain
        self.source_html = parent.html
        self.parts = list(parent.parts)
        drops = mail.client in ("thunderbird", "mutt") and not mail.is_forward
        if drops and self.parts and parent.parts[-1].text.startswith("-- "):
            self.drop_signature()
        if not mail.is_forward and writer.chance.random() < 0.06:
            self.change()
        self.shifted = [Part(self.kind(part), part.depth + 1, part.text) for part in self.parts]

    def kind(self, part: Part) -> str:
        if part.kind == "reply":
            return "forwarded" if self.mail.is_forward else "quoted"
        return part.kind

    def drop_signature(self) -> None:
        """Leave out what is below `-- ` at the end, as Thunderbird and mutt do."""
        last = self.parts[-1]
        place = self.source.rfind("\n-- \n")
        if last.depth == 0 and place >= 0 and self.parent.style != "top":
            if '<div class="moz-signature">' not in self.source_html:
                return
            self.source = self.source[:place].rstrip("\n")
            before, _, _ = self.source_html.rpartition('<div class="moz-signature">')
            self.source_html = before
            self.parts.pop()

    def change(self) -> None:
        """Leave a `not` out of what the parent's sender wrote."""
        word = NOT[self.parent.language]
        for place, part in enumerate(self.parts):
            if word and part.kind == "reply" and part.depth == 0 and f" {word} " in part.text:
                changed = part.text.replace(f" {word} ", " ", 1)
                line = next(line for line in part.text.split("\n") if f" {word} " in line)
                new = line.replace(f" {word} ", " ", 1)
                if line in self.source and escape(line) in self.source_html:
                    self.parts[place] = Part("reply", 0, changed)
                    self.source = self.source.replace(line, new, 1)
                    self.source_html = self.source_html.replace(escape(line), escape(new), 1)
                    self.mail.is_changed = True
                return

    def attribution(self) -> str:
        parent = self.parent
        client = self.mail.client
        language = self.mail.language
        values = {
            "w": WEEK[language], "m": MONTH[language], "d": parent.date.day, "y": parent.date.year,
            "t": f"{parent.date:%H:%M}", "who": parent.sender[0], "at": parent.sender[1],
        }  # fmt: skip
        if client == "mutt":
            return f"On {parent.date:%a, %b %d, %Y at %H:%M:%S} +0100, {parent.sender[0]} wrote:"
        return ATTRIBUTIONS[client][language].format(**values)

    def header(self, labels: tuple[str, str, str, str], order: str = "fstu") -> list[str]:
        parent = self.parent
        fields = {
            "f": f"{labels[0]}: {parent.sender[0]} <{parent.sender[1]}>",
            "s": f"{labels[1]}: {parent.date:%d.%m.%Y %H:%M}",
            "t": f"{labels[2]}: {parent.to[0]} <{parent.to[1]}>",
            "u": f"{labels[3]}: {parent.subject}",
        }
        return [fields[letter] for letter in order]

    def heading(self) -> list[str]:
        """Return the lines above the quoted text."""
        client = self.mail.client
        language = self.mail.language
        labels = LABELS[language]
        if client == "outlook":
            return ["________________________________", *self.header(labels)]
        if client == "outlook-classic":
            return [f"-----{ORIGINAL[language]}-----", *self.header(labels)]
        if not self.mail.is_forward:
            return [self.attribution()]
        if client == "gmail":
            mixed = (labels[0], "Date", "To", "Subject")
            return ["---------- Forwarded message ---------", *self.header(mixed, "fsut")]
        if client == "apple":
            begin = APPLE_FORWARD.get(language, APPLE_FORWARD["en"])
            known = labels if language in APPLE_FORWARD else LABELS["en"]
            return [begin, "", *self.header(known, "fust")]
        if client == "thunderbird":
            name = BIRD_FORWARD.get(language, "Forwarded Message")
            known = labels if language in BIRD_FORWARD else LABELS["en"]
            return [f"-------- {name} --------", *self.header(known, "usft")]
        who = f"{self.parent.sender[0]} <{self.parent.sender[1]}>"
        english = ("From", "Date", "To", "Subject")
        return [f"----- Forwarded message from {who} -----", "", *self.header(english, "sftu")]


class Blocks:
    """Puts own text, endings and quote together as a client does."""

    def __init__(
        self,
        mail: Mail,
        own: list[str],
        signature: list[str],
        notice: list[str],
        quote: Quote | None,
    ) -> None:
        self.mail = mail
        self.own = own
        self.signature = signature
        self.notice = notice
        self.quote = quote

    def write(self) -> None:
        own = [self.own_block(self.own)] if self.own else []
        tail = [*self.ending_blocks()]
        if self.quote is None:
            blocks = [*own, *tail]
        elif self.mail.style == "bottom":
            blocks = [*self.quote_blocks(), *own, *tail]
        elif self.mail.style == "inline" and len(self.own) > 1:
            blocks = [*self.inline_blocks(), *tail]
        else:
            blocks = [*own, *tail, *self.quote_blocks()]
        self.mail.plain = "\n\n".join(plain for plain, _, _ in blocks if plain)
        self.mail.html = "".join(html for _, html, _ in blocks)
        self.mail.parts = merged([part for _, _, parts in blocks for part in parts])

    def wrap(self, text: str) -> str:
        """Break lines as the client does; Outlook and Apple Mail do not, nor does Chinese."""
        if self.mail.client in ("outlook", "outlook-classic", "apple"):
            return text
        return "\n".join(textwrap.wrap(text, 72, break_long_words=False, break_on_hyphens=False))

    def own_block(self, paragraphs: list[str]) -> tuple[str, str, list[Part]]:
        plain = "\n\n".join(self.wrap(text) for text in paragraphs)
        tag = "p" if "outlook" in self.mail.client else "div"
        spacer = "" if tag == "p" else "<div><br></div>"
        html = spacer.join(f"<{tag}>{escape(text)}</{tag}>" for text in paragraphs)
        return plain, html + spacer, [Part("reply", 0, "\n".join(paragraphs))]

    def ending_blocks(self) -> Iterator[tuple[str, str, list[Part]]]:
        if self.signature:
            text = "\n".join(self.signature)
            marked = self.signature[0] == "-- "
            lines = "<br>".join(escape(line) for line in self.signature[marked:])
            opening = '<div class="moz-signature">-- <br>' if marked else "<div>"
            yield text, f"{opening}{lines}</div>", [Part("signature", 0, text)]
        for notice in self.notice:
            html = f"<p><span style='font-size:8pt'>{escape(notice)}</span></p>"
            yield notice, html, [Part("disclaimer", 0, notice)]

    def quote_blocks(self) -> list[tuple[str, str, list[Part]]]:
        quote = self.quote
        assert quote is not None
        mail = self.mail
        heading = quote.heading()
        heading_depth = 0
        parts = quote.shifted
        source = quote.source
        lines = source.split("\n")
        html_heading = "<br>".join(escape(line) for line in heading)
        end: list[tuple[str, str, list[Part]]] = []
        if "outlook" in mail.client:
            plain = "\n".join([*heading, "", source])
            rule = "<div style='border:none;border-top:solid #E1E1E1 1.0pt'>"
            shown = "<br>".join(f"<b>{escape(line)}</b>" for line in heading if "___" not in line)
            html = f"{rule}<p>{shown}</p></div>{quote.source_html}"
        elif mail.is_forward and mail.client != "apple":
            plain = "\n".join([*heading, "", "", source])
            html = f"<div class=gmail_quote>{html_heading}<br><br>{quote.source_html}</div>"
            if mail.client == "mutt":
                closing = "----- End forwarded message -----"
                end = [(closing, closing, [Part("attribution", 0, closing)])]
        elif mail.client == "apple":
            heading_depth = 1
            first = heading
            outside: list[Part] = []
            if mail.is_forward:
                outside = [Part("attribution", 0, heading[0])]
                first = heading[2:]
            quoted = marked([*first, "", *lines])
            plain = "\n".join([heading[0], "", *quoted] if mail.is_forward else quoted)
            top = escape(heading[0]) + "<br>" if mail.is_forward else ""
            inside = "<br>".join(escape(line) for line in first)
            html = f"{top}<blockquote type=cite><div>{inside}</div>{quote.source_html}</blockquote>"
            inner = Part("attribution", heading_depth, "\n".join(first))
            return [(plain, html, [*outside, inner, *parts])]
        else:
            wrapped = textwrap.wrap(heading[0], 76) if mail.client == "gmail" else heading
            space = "" if mail.client == "thunderbird" else "\n"
            plain = "\n".join(wrapped) + "\n" + space + "\n".join(marked(lines))
            cite = "gmail_quote" if mail.client == "gmail" else "moz-cite-prefix"
            html = (
                f"<div class={cite}>{html_heading}<br></div>"
                f"<blockquote type=cite>{quote.source_html}</blockquote>"
            )
        above = Part("attribution", heading_depth, "\n".join(line for line in heading if line))
        return [(plain, html, [above, *parts]), *end]

    def inline_blocks(self) -> list[tuple[str, str, list[Part]]]:
        """Return the quote with the first own paragraph within it, after the parent's first line.

        The parent must begin with own text of more than a paragraph; else the answer is below.
        """
        quote = self.quote
        assert quote is not None
        first = quote.parts[0]
        paragraphs = first.text.split("\n")
        head = paragraphs[0]
        if first.kind != "reply" or len(paragraphs) < 2 or "\n\n" not in quote.source:
            return [*self.quote_blocks(), self.own_block(self.own)]
        before, _, after = quote.source.partition("\n\n")
        heading = quote.heading()
        rest = [Part("quoted", 1, "\n".join(paragraphs[1:])), *quote.shifted[1:]]
        above = [*heading, "", *marked(before.split("\n"))]
        below = marked(after.split("\n"))
        blocks = [
            (
                "\n".join(above),
                html_lines(above),
                [Part("attribution", 0, "\n".join(heading)), Part("quoted", 1, head)],
            ),
            self.own_block(self.own[:1]),
            ("\n".join(below), html_lines(below), rest),
        ]
        return [*blocks, self.own_block(self.own[1:])]


def html_lines(lines: list[str]) -> str:
    """Return lines as they are, quote marks included, as HTML."""
    return "<div>" + "<br>".join(escape(line) for line in lines) + "</div>"


def marked(lines: list[str]) -> list[str]:
    """Put a quote mark before each line, without a blank where there is one already."""
    return [f">{line}" if line.startswith(">") or not line else f"> {line}" for line in lines]


def merged(parts: list[Part]) -> list[Part]:
    """Join neighbours of one kind and depth."""
    joined: list[Part] = []
    for part in parts:
        text = part.text
        if joined and (joined[-1].kind, joined[-1].depth) == (part.kind, part.depth):
            text = f"{joined.pop().text}\n{part.text}"
        joined.append(Part(part.kind, part.depth, text))
    return joined


def corpus(mails: int, seed: int = 0) -> list[Mail]:
    """Return at least so many mails in threads of 1 to 12."""
    writer = Writer(seed)
    start = datetime(2024, 2, 1, 8, tzinfo=timezone(timedelta(hours=1)))
    found: list[Mail] = []
    thread = 0
    while len(found) < mails:
        size = writer.chance.choice([1, 2, 2, 3, 3, 4, 5, 6, 8, 12])
        members = [writer.root(thread, start + timedelta(minutes=7 * thread % 20000))]
        while len(members) < size:
            parent = members[-1] if writer.chance.random() < 0.75 else writer.chance.choice(members)
            members.append(writer.answer(parent, f"t{thread}.{len(members)}"))
        found += members
        thread += 1
    return found
