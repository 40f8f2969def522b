"""Numbers, dates and negations in the words of many languages."""

import pytest

from indexer.comparing.criteria import Criteria
from indexer.comparing.marks import Comparison, negated, states_other_facts
from indexer.comparing.measures import ComparedText
from indexer.comparing.quantities import DATES, NEGATIONS, NUMBERS, denials
from indexer.comparing.reasons import differences, explain
from indexer.recipe import DEFAULT

OF_JAPANESE = "この契約は一年間有効であり、双方の合意により更新される。"
OF_TURKISH = "Bu sözleşme ve ekleri için bir yıl daha geçerli olarak kalır."
OF_FINNISH = "Tämä sopimus on voimassa ja se jatkuu, jos sitä jatketaan."


def compared(a: str, b: str) -> Comparison:
    return Comparison(ComparedText(a, DEFAULT), ComparedText(b, DEFAULT))


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        ("the hall is open on wednesday for all members of the club", "wednesday", "friday"),
        ("we meet in june in the large hall of the town", "june", "july"),
        ("die Sitzung ist am Mittwoch im großen Saal der Stadt", "Mittwoch", "Freitag"),
        ("la réunion a lieu mercredi dans la grande salle", "mercredi", "vendredi"),
        ("the lease of the hall ends on the fifth of may", "may", "march"),
        ("el plazo de los socios acaba el 5 de mayo", "mayo", "agosto"),
        ("a reunião é na quarta-feira na sala grande", "quarta", "sexta"),
        ("el inquilino paga cinco mil euros cada mes al dueño", "cinco", "seis"),
        ("najemca płaci pięć tysięcy złotych każdego miesiąca", "pięć", "sześć"),
        ("kiracı her ay beş lira öder ve sözleşmeyi imzalar", "beş", "altı"),
        ("hyresgästen betalar åtta tusen kronor varje månad", "åtta", "nio"),
        ("ο μισθωτής πληρώνει πέντε ευρώ κάθε μήνα στον ιδιοκτήτη", "πέντε", "έξι"),
        ("Арендатор платит пять тысяч рублей каждый месяц.", "пять", "шесть"),
        ("Встреча состоится в мае в большом зале города.", "мае", "июне"),
        ("Встреча состоится в среду в большом зале города.", "среду", "пятницу"),
        ("يدفع المستأجر خمسة آلاف ريال كل شهر للمالك.", "خمسة", "ستة"),
        ("يبدأ الاجتماع في شهر مايو في المدينة الكبيرة.", "مايو", "يونيو"),
        ("किरायेदार पाँच हजार रुपये हर महीने देगा।", "पाँच", "छह"),
        ("השוכר משלם חמש מאות שקלים בכל חודש", "חמש", "שש"),
        ("会议将于三月五日举行，费用为五百元，请准时参加。", "五日", "六日"),
        ("会议在星期三举行，请大家准时参加。", "星期三", "星期五"),
        ("会議は水曜日に開催されます。皆様ご参加ください。", "水", "金"),
        ("회의는 오월 삼일에 열리며 참가비는 오천 원입니다.", "오천", "육천"),
        ("회의는 세 시간 동안 열리며 모두 참석합니다.", "세", "네"),
    ],
)
def test_another_number_or_date(text: str, old: str, new: str) -> None:
    pair = compared(text, text.replace(old, new))
    assert states_other_facts(pair)
    assert {fact.kind for fact in differences(pair.a.source, pair.b.source)} <= {
        "number",
        "date",
        "amount",
    }


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        ("Арендатор может передать договор другому лицу.", "может", "не может"),
        ("لا يجوز للمستأجر التنازل عن هذا العقد.", "لا ", ""),
        ("किरायेदार यह पट्टा दे सकता है।", "दे", "नहीं दे"),
        ("承租人可以转让本合同给第三方。", "可以", "不可以"),
        ("임차인은 본 계약을 양도할 수 있다.", "있다", "없다"),
        ("kiracı bu sözleşmeyi devretme hakkına sahip değil", " değil", ""),
        ("penyewa boleh mengalihkan perjanjian ini", "boleh", "tidak boleh"),
        (f"この契約は譲渡できる。{OF_JAPANESE}", "きる", "きない"),
        (f"契約を更新します。{OF_JAPANESE}", "ます。", "ません。"),
        (f"{OF_JAPANESE}責任を負わなかった。", "わなかった", "った"),
        (f"通知せずに解約する。{OF_JAPANESE}", "せずに", "して"),
        (f"Kiracı sözleşmeyi devredebilir. {OF_TURKISH}", "devredebilir", "devredemez"),
        (f"Sözleşmeyi yeniledik. {OF_TURKISH}", "yeniledik", "yenilemedik"),
        (f"{OF_TURKISH} Kabul ediyor.", "ediyor", "etmiyor"),
        (f"Vuokralainen voi siirtää sen. {OF_FINNISH}", "voi siirtää", "ei voi siirtää"),
        (f"{OF_FINNISH} Minä maksan.", "maksan", "en maksa"),
        ("Älkää siirtäkö sopimusta toiselle.", "Älkää siirtäkö", "Siirtäkää"),
        ("Furnizorul poate ceda", "poate", "nu poate"),
        ("Dodavatel může postoupit pohledávku.", "může", "nemůže"),
        ("Dodávateľ zodpovedá za škodu.", "zodpovedá", "nezodpovedá"),
        ("Smlouva má přílohy.", "má", "nemá"),
        ("Smlouva je platná.", "je", "není"),
        ("فروشنده می‌تواند قرارداد را واگذار کند", "می", "نمی"),
        ("قرارداد معتبر است", "است", "نیست"),
        ("המוכר רשאי להעביר את החוזה", "רשאי", "אינו רשאי"),
        ("Az eladó átruházhatja a jogait és felel is.", "átruházhatja", "nem ruházhatja át"),
        ("Umowa jest ważna do końca roku.", "ważna", "nieważna"),
        ("The licence is exclusive to them.", "exclusive", "non-exclusive"),
        ("The seller is liable for it.", "liable", "unliable"),
        ("ผู้เช่าสามารถโอนสิทธิตามสัญญาเช่านี้ได้", "สามารถ", "ไม่สามารถ"),
        ("อนุญาตให้สูบบุหรี่บนดาดฟ้าของอาคาร", "อนุญาตให้", "ห้าม"),
        ("ຜູ້ເຊົ່າສາມາດໂອນສິດໄດ້", "ສາມາດ", "ບໍ່ສາມາດ"),
        ("អ្នកជួលអាចផ្ទេរកិច្ចសន្យា", "អាច", "មិនអាច"),
        ("ভাড়াটে এই চুক্তি হস্তান্তর করবে", "করবে", "করবে না"),
        ("მოიჯარე გადასცემს ხელშეკრულებას", "გადასცემს", "არ გადასცემს"),
        ("Վարձակալը կարող է փոխանցել", "կարող է", "չի կարող"),
        ("Nuomininkas gali perleisti sutartį.", "gali", "negali"),
        ("Üürnikul on õigus anda korter edasi.", "on õigus", "ei ole õigust"),
        (
            "Vuokralaisella on oikeus saada vakuus.",
            "on oikeus saada vakuus",
            "ei ole oikeutta vakuuteen",
        ),
        ("Наемателят има право на жилището.", "има", "няма"),
        ("Īrnieks drīkst nodot līgumu.", "drīkst", "nedrīkst"),
        ("Ugovor je valjan do kraja godine.", "valjan", "nevaljan"),
        ("The tenant may assign the lease to a third party.", "may", "may under no circumstances"),
        ("The tenant may assign the lease to a third party.", "may", "may in no event"),
        ("Le preneur peut céder le bail à un tiers.", "peut", "peut en aucun cas"),
        ("De huurder mag de huur aan een derde overdragen.", "mag", "mag in geen geval"),
        ("O locatário pode ceder o contrato a terceiros.", "pode", "pode em caso algum"),
        ("El arrendatario puede ceder el contrato.", "puede", "puede en modo alguno"),
    ],
)
def test_a_negation(text: str, old: str, new: str) -> None:
    pair = compared(text, text.replace(old, new))
    assert negated(pair)
    for policy in ("strict", "standard"):
        assert not Criteria(policy=policy).accepts(*pair.texts)


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        ("The board approved the merger with", "approved", "rejected"),
        ("The landlord hereby grants permission to sublet", "grants", "denies"),
        ("We accept the offer that", "accept", "refuse"),
        ("in der Sitzung genehmigt", "genehmigt", "abgelehnt"),
        ("Le conseil a approuvé la fusion avec", "approuvé", "rejeté"),
        ("El consejo aprobó la fusión con", "aprobó", "rechazó"),
        ("Il consiglio ha approvato la fusione con", "approvato", "respinto"),
        ("O conselho aprovou a fusão com", "aprovou", "rejeitou"),
        ("in de vergadering goedgekeurd", "goedgekeurd", "afgekeurd"),
        ("Zarząd zatwierdził połączenie spółek na", "zatwierdził", "odrzucił"),
        ("Совет утвердил слияние с компанией", "утвердил", "отклонил"),
        ("Рада схвалила злиття з компанією", "схвалила", "відхилила"),
        ("Rada schválila fúzi se společností", "schválila", "zamítla"),
        ("Styrelsen godkände fusionen med bolaget", "godkände", "avslog"),
        ("Bestyrelsen godkendte fusionen med selskabet", "godkendte", "afviste"),
        ("Hallitus hyväksyi sulautumisen yhtiön kanssa", "hyväksyi", "hylkäsi"),
        ("ayındaki son toplantısında onayladı", "onayladı", "reddetti"),
        ("Az igazgatóság jóváhagyta az egyesülést a", "jóváhagyta", "elutasította"),
        ("Consiliul a aprobat fuziunea cu societatea", "aprobat", "respins"),
        ("Το συμβούλιο ενέκρινε τη συγχώνευση με", "ενέκρινε", "απέρριψε"),
        ("그 회사와의 합병을 승인하였다", "승인하였다", "거부하였다"),
        ("وافق المجلس على الاندماج", "وافق", "رفض"),
        ("साथ विलय को स्वीकृत किया।", "स्वीकृत", "अस्वीकृत"),
        ("Dewan menyetujui penggabungan dengan perusahaan", "menyetujui", "menolak"),
        ("Upravni odbor odobrio je spajanje s", "odobrio", "odbio"),
        ("The warranty lapses unless the buyer registers it.", "unless", "if"),
        ("The insurer covers damage by hail also on roofs.", "also", "except"),
        ("The consent of the lender is required for it.", "required", "optional"),
        ("Die Frist beginnt mit dem Zugang der Rechnung.", "beginnt", "endet"),
        ("La clause est valable pour toutes les filiales.", "valable", "nulle"),
        ("El contrato es válido en todos los países.", "válido", "inválido"),
        ("Het beding is geldig voor alle vestigingen.", "geldig", "ongeldig"),
        ("Domstolen biföll käromålet i sin helhet.", "biföll", "ogillade"),
        ("Plata se face înainte de predarea cheilor.", "înainte", "după"),
        ("התשלום יבוצע לפני מסירת המפתחות לקונה", "לפני", "אחרי"),
        ("法院支持原告的全部诉讼请求。", "支持", "驳回"),
        ("董事会在会议上批准了合并方案。", "批准", "否决"),
        ("員工被允許在平台上吸煙。", "允許", "禁止"),
        ("取締役会は会議で合併を承認した。", "承認", "否決"),
    ],
)
def test_a_word_for_its_opposite(text: str, old: str, new: str) -> None:
    pair = compared(text, text.replace(old, new))
    assert negated(pair)
    assert any(fact.kind == "negation" for fact in differences(pair.a.source, pair.b.source))
    for policy in ("strict", "standard"):
        assert not Criteria(policy=policy).accepts(*pair.texts)


@pytest.mark.parametrize(
    ("old", "new"),
    [("accepts", "approves"), ("refuses", "rejects"), ("accepts", "welcomes"), ("the", "this")],
)
def test_a_word_for_another_of_its_meaning(old: str, new: str) -> None:
    text = f"The board {old} the offer of the buyer and informs the members."
    pair = compared(text, text.replace(old, new))
    assert not negated(pair) and Criteria(policy="standard").accepts(*pair.texts)


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        ("El señor Jiménez firma el contrato de la casa con su hermano.", "Jiménez", "Gomez"),
        ("Le cheval en bois et la table en fer sont dans la maison.", "en bois", "de bois"),
        ("Der Mann isst ein Ei und trinkt dazu einen Tee mit Milch.", "ein Ei", "ein Brot"),
        (f"{OF_JAPANESE}人が少ない。", "少ない", "大きい"),
        ("Platí se hotově nebo kartou, pokud je bod splněn.", "nebo", "bod"),
        ("Il prezzo si paga entro gli anni della vendita.", "gli anni", "negli anni"),
        ("We list the newest town of the land.", "newest", "west"),
        ("We pay unless the rent is due.", "unless", "less"),
        ("We count the unions of the cell.", "unions", "ions"),
        ("De koper betaalt nu de prijs van het huis.", "nu ", ""),
        ("O locatário pode ceder o contrato a terceiros.", "pode", "pode em algum caso"),
    ],
)
def test_no_negation_of_another_language(text: str, old: str, new: str) -> None:
    pair = compared(text, text.replace(old, new))
    assert not negated(pair)
    assert "negation" not in {each.kind for each in differences(pair.a.source, pair.b.source)}


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        ("The tenant must pay the rent.", "must", "may"),
        ("The tenant should pay the rent.", "should", "shall"),
        ("Der Mieter darf die Wohnung streichen.", "darf", "muss"),
        ("Der Mieter darf die Kaution nicht zu zahlen.", "darf", "braucht"),
        ("Le preneur doit payer le loyer chaque mois.", "doit", "peut"),
        ("El inquilino debe pagar la renta.", "debe", "puede"),
        ("El inquilino deberá pagar la renta.", "deberá", "podrá"),
        ("O locatário deverá pagar a renda.", "deverá", "poderá"),
        ("Le preneur devra payer le loyer.", "devra", "pourra"),
        ("Il conduttore dovrà pagare il canone.", "dovrà", "potrà"),
        ("De huurder is verplicht de huur te betalen.", "verplicht", "gerechtigd"),
        ("Арендатор может передать договор другому лицу.", "может", "должен"),
        ("承租人可以转让本合同给第三方。", "可以", "必须"),
        ("يجب أن يدفع المستأجر", "يجب", "يجوز"),
        ("Kiracı bu sözleşmeyi devredebilir.", "devredebilir", "devretmelidir"),
        ("임차인은 본 계약을 양도할 수 있다.", "양도할 수 있다", "양도하여야 한다"),
        (
            f"{OF_JAPANESE}賃料を支払わなければならない。{OF_JAPANESE}",
            "わなければならない",
            "うことができる",
        ),
        (
            f"{OF_JAPANESE}解除しなければなりません。{OF_JAPANESE}",
            "しなければなりません",
            "することができます",
        ),
    ],
)
def test_another_obligation(text: str, old: str, new: str) -> None:
    pair = compared(text, text.replace(old, new))
    assert [mark.kind for mark in explain(*pair.texts).marks] == ["obligation"]
    assert not Criteria(policy="strict").accepts(*pair.texts)
    assert Criteria(policy="standard").accepts(*pair.texts)
    pair = compared("The tenant shall pay the rent.", "The tenant must pay the rent.")
    assert explain(*pair.texts).marks == ()


def test_a_month_that_is_another_word_needs_a_number() -> None:
    for text in ("they march to the hall", "the first may pay", "Section 5 may be read"):
        source = ComparedText(text, DEFAULT).facts
        assert "date" not in {
            fact.kind for fact in map(source.fact, range(len(source.starts))) if fact
        }


def test_a_numeral_that_is_part_of_a_word_is_no_number() -> None:
    pair = compared("我们的做法和他们一样好。", "我们的做法和他们十分好。")
    assert not states_other_facts(pair)


def test_words_of_one_language_are_no_facts_of_another() -> None:
    words = {"on", "to", "en", "fire", "sex", "hat", "bin", "sto", "doi", "nic", "ei", "sun", "sat"}
    assert words.isdisjoint(NUMBERS) and words.isdisjoint(DATES) and words.isdisjoint(NEGATIONS)
    assert {"may", "mai", "mart", "mars"}.isdisjoint(DATES)


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        ("客户：王伟\n请在收到发票后十四天内付款，并注明发票的编号。", "王伟", "李娜"),
        ("取引先：田中商店\n日付から十四日以内にお支払いください。", "田中商店", "鈴木工業"),
        ("고객: 김민수\n청구서 날짜로부터 14일 이내에 지급하여 주십시오.", "김민수", "이서연"),
        ("العميل: أحمد علي\nيرجى الدفع خلال شهر من تاريخ الفاتورة.", "أحمد علي", "خالد حسن"),
        ("ग्राहक: राम शर्मा\nकृपया एक महीने के भीतर भुगतान करें।", "राम शर्मा", "मोहन वर्मा"),
        ("לקוח: דוד כהן\nנא לשלם תוך חודש ממועד החשבונית.", "דוד כהן", "משה לוי"),
        ("ลูกค้า: สมชาย\nกรุณาชำระเงินภายในสิบสี่วันนับจากวันที่", "สมชาย", "วิชัย"),
        ("本协议由清泉贸易有限公司交付货物，并按时开具发票。", "清泉贸易", "南山实业"),
    ],
)
def test_a_name_in_a_script_without_capitals(text: str, old: str, new: str) -> None:
    pair = compared(text, text.replace(old, new))
    assert {mark.kind for mark in explain(*pair.texts).marks} == {"name"}
    assert states_other_facts(pair)
    assert not Criteria(policy="strict").accepts(*pair.texts)
    assert Criteria(policy="standard").accepts(*pair.texts)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Yesterday I saw the ship.", "Yesterday we saw the ship."),
        ("It is late, so I'd say no.", "It is late, so you'd say no."),
        ("Wir senden Ihnen das Buch.", "Wir senden euch das Buch."),
        ("Hoy decimos que Usted viene con él.", "Hoy decimos que ella viene con él."),
        ("List, który jest dla Pana, nie.", "List, który jest dla ciebie, nie."),
    ],
)
def test_pronouns_with_a_capital_letter_are_no_names(a: str, b: str) -> None:
    assert not differences(*(text.facts for text in compared(a, b).texts))


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("We wrote to Mr Du in May.", "We wrote to Mr Ni in May."),
        ("They think that it was Ella who left.", "They think that it was Pan who left."),
        ("Last week we went to Ella.", "Last week we went to Vi."),
        ("Wir haben das Buch von Herrn Du.", "Wir haben das Buch von Herrn Ni."),
    ],
)
def test_pronouns_of_other_languages_and_after_titles_are_names(a: str, b: str) -> None:
    pair = compared(a, b)
    assert [one.kind for one in differences(*(text.facts for text in pair.texts))] == ["name"]


def test_another_numeral_than_one_is_a_name() -> None:
    pair = compared("The plan is in Exhibit I.", "The plan is in Exhibit II.")
    assert [one.b for one in differences(*(text.facts for text in pair.texts))] == ["II"]


def test_other_words_of_such_scripts_are_no_names() -> None:
    text = "客户：王伟\n请在收到发票后付款，并注明编号。"
    pair = compared(text, text.replace("收到发票后", "收到账单后"))
    assert Criteria(policy="strict").accepts(*pair.texts)


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        ("本协议由清泉负责。清泉交付货物，清泉开票。", "清泉", "明水"),
        ("يسلم عدنان البضاعة إلى المشتري، ويدفع عدنان الثمن.", "عدنان", "سليمان"),
    ],
)
def test_a_name_that_is_replaced_throughout_is_renamed(text: str, old: str, new: str) -> None:
    pair = compared(text, text.replace(old, new))
    assert "renamed" in {mark.kind for mark in explain(*pair.texts).marks}
    assert not Criteria(policy="strict").accepts(*pair.texts)
    pair = compared(text, text.replace(old, new, 1))
    assert explain(*pair.texts).marks == ()


@pytest.mark.parametrize(
    ("words", "language", "denied"),
    [
        ("online/line onshore/shore ongoing/going", "", False),
        (
            "onwards/wards information/formation informed/formed impress/press improved/proved",
            "en",
            False,
        ),
        ("install/stall invoice/voice imposition/position incorporate/corporate", "en", False),
        ("inversión/versión imponer/poner", "es", False),
        ("ongeldig/geldig onvoldoende/voldoende", "nl", True),
        ("informal/formal improper/proper immaterial/material independent/dependent", "en", True),
        (
            "incumplimiento/cumplimiento inexécution/exécution imprévu/prévu indirekt/direkt",
            "",
            True,
        ),
    ],
)
def test_a_word_that_begins_as_a_negating_prefix_negates_where_the_rest_is_its_opposite(
    words: str, language: str, denied: bool
) -> None:
    for pair in words.split():
        longer, shorter = pair.split("/")
        assert bool(denials([longer], [shorter], language)) == denied, pair
