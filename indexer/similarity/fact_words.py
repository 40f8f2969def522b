"""Words that state facts, folded: names of months, negations, names of currencies.

English, German, Dutch, French, Spanish, Italian and Portuguese, and negations of Chinese.
"""

_MONTHS = """
jan january januar januari janvier enero gennaio janeiro
feb february februar februari février febrero febbraio fevereiro
mar march märz maart mars marzo março
apr april avril abril aprile
may mai mei mayo maggio maio
jun june juni juin junio giugno junho
jul july juli juillet julio luglio julho
aug august augustus août agosto
sep sept september septembre septiembre settembre setembro
oct okt october oktober octobre octubre ottobre outubro
nov november novembre noviembre novembro
dec dez december dezember décembre diciembre dicembre dezembro
"""
_NEGATIONS = """
not no never none nor neither cannot without nothing nobody nowhere
nicht kein keine keinen keinem keiner keines nie niemals ohne nichts niemand
niet geen nooit zonder niets niemand
ne pas jamais sans aucun aucune rien
nunca sin ningún ninguno ninguna nada jamás
non mai senza nessun nessuno nessuna niente
não sem nenhum nenhuma
не нет ни никогда никто ничего без нельзя ні немає
inte ingen inget inga aldrig ikke intet ingenting aldri uden uten
není nejsou nikdy bez nem nincs soha
δεν μην όχι χωρίς ποτέ
לא אין בלי
لا ليس ليست لم لن بدون
नहीं không chẳng chưa
不 没 沒 未 無 无 非
"""
_CURRENCIES = """
eur euro euros usd dollar dollars gbp pound pounds chf jpy yen cny rmb sek nok dkk pln czk
percent prozent procent
"""
MONTHS = frozenset(_MONTHS.split())
NEGATIONS = frozenset(_NEGATIONS.split())
CURRENCIES = frozenset(_CURRENCIES.split())
