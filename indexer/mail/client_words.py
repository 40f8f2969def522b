"""Words that mail programs write around quoted messages, by what they mean, in many languages.

They are those of the programs' own translations: Gmail, Outlook, Apple Mail, Thunderbird.
"""

from __future__ import annotations

import re


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
