"""Frequent function words by language: articles, prepositions, auxiliaries, pronouns."""

from __future__ import annotations

from collections.abc import Mapping

_LISTS = """
ar: أن أو إذا إلى التي على عن في كل لا ما مع من هذا هذه هو
bg: ако да за или като които на не от по са само се този че
cs: by do jako je jsou které který na nebo není po pokud pro se také tento to za že
da: af at den denne der det eller en er et for fra har hvis ikke kan med og om på skal som til
    vil
de: als am an auch auf aus bei das dem den der des die durch ein eine einem einen einer er es
    für im in ist man mit nach nicht oder sich sie sind so um und von war wenn werden wie wird
    zu
el: ένα αν από για δεν είναι και με να που στο τα την της το του των
en: all an and any are as at be but by can do for from has have he if in is it may me must no
    not of on or should so that the this to was we when which will with you your
es: al como con de del el en es este la las le lo los más no para por que se si sin son su sus
    un una
fa: آن از است این با برای به در را شود می که یا یک
fi: ei että ja joka jos kuin kun mutta myös niin ole on ovat se sen tai tämä vain voi
fr: au aux avec ce ces cette dans de des du elle en est et il la le les leur mais ne nous on ou
    par pas plus pour que qui se si son sont sur un une vous être
he: או אל אם את גם הוא היא זה יש כי כל לא לפי על עם של
hi: एक और का की के को नहीं पर में यह या लिए से है हैं
hu: az azt csak de egy el ez ha hogy is kell ki lehet meg mint nem vagy van és
id: adalah akan atau dalam dan dapat dari dengan di ini itu jika ke oleh pada tidak untuk yang
it: ad al alla che come con da dei del della delle di gli il in la le lo ma nel nella non per
    più se si sono su un una
ja: い が さ し す た で と に の は も る れ を
ko: 경우 그 는 대한 또는 를 및 수 에 은 을 의 이 있는 있습니다
nb: at av de den denne det eller en er et for fra har hvis ikke kan med og om på skal som til
    vil
nl: aan al als bij dat de deze die dit door een en er het in is kan met naar niet of om ook op
    te tot uit van voor worden wordt ze zijn
pl: aby być dla do ich jako jest jeśli które lub na nie od oraz po przez się to tylko za że
pt: ao as com como da das de do dos em mais na nas no nos não os ou para pela pelo por que se
    sem ser são um uma
ro: acest care ce cu dacă de din este fi la nu pe pentru prin sau se sunt să un va în și
ru: будет для его если из или как на не но от по при то только что это
sk: ak ako alebo do je ktoré ktorý na nie po pre sa sú tento tiež to za že
sr: ако да за или као који на не ово од са само се су је
sv: att av de den denna det detta du eller en er ett från för har inte kan med och om på ska som
    till vid är
tr: bir bu da daha de değil eğer gibi her ile ise için ne olan olarak sonra ve veya çok
uk: або буде від для до за його лише на не по при під та те це що як якщо
vi: bị cho các có của khi không là một như những này trong từ và với đã được để
zh: 不 个 为 了 以 個 和 在 如 将 將 或 於 是 有 為 用 的 與 被
"""


def _languages_by_word(lists: str) -> Mapping[str, tuple[str, ...]]:
    """Return the languages of each word, from lines `LANGUAGE: WORD ...` that blanks continue."""
    languages: dict[str, tuple[str, ...]] = {}
    for line in lists.strip().replace("\n ", " ").splitlines():
        language, _, listed = line.partition(":")
        for word in listed.split():
            languages[word] = (*languages.get(word, ()), language)
    return languages


LANGUAGES_BY_WORD = _languages_by_word(_LISTS)
"""The languages, as ISO 639-1 codes, in whose list a word stands."""
