"""The text of a clause without the number and the heading at its beginning.

A heading is recognised by its structure: few words with capitals and no verb, alone on a line or
before the beginning of a sentence, and no name in it. The full stop of an abbreviation ends no
heading: "Acme, Inc. shall pay" begins with a party. No list has all abbreviations, so a full stop
ends a heading only before a function word that begins a sentence, or after a word that is whole by
its form and before what goes on no name. When in doubt a heading stays in its clause.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import takewhile

from indexer.comparing.clauses.headings import LABEL, SMALL_NAME, label_end, without_labels
from indexer.comparing.clauses.lexicon import (
    COMPANY_FORMS,
    DIVISIONS,
    FIRM_WORDS,
    FUNCTION,
    HEADING_WORDS,
    NAMES_ALONE,
    ORGANISATIONS,
    PARTY_ACTS,
    SMALL_FORMS,
    STARTERS,
    TITLES,
    VERBS,
    Lexicon,
    is_abbreviation,
    stem,
)

# Words that the headings of contracts and statutes consist of, and those that may be names.

_PROVISIONS = """
adjustments affiliates agreements amendments anti applicable approvals arbitration assignments
assigns assurances authority authorizations base benefits binding books brokers capitalization
change closings compliance confidentiality conflicts consent construction control cooperation
corruption costs counterparts dates death defaults defined definitions disability disclosures
disparagement duties effective effectiveness effects employment enforceability enforcements entire
erisa existence expenses fees financial forfeitures further general governing headings
indemnifications indemnity insurances integration intellectual interests interpretations
jurisdiction jury laws liens litigations miscellaneous modifications non notices organizations
participations payments performance positions powers proceeds property publicity qualifications
records releases remedies representations salary sales sanctions severability solvency specific
statements submission subsidiaries successors survival taxes terminations terms titles transactions
trials use vacations venues vesting waivers warranties withholdings
"""
_OTHERS = """
abandonment abatement absence acceleration acceptance access accessibility accident accommodation
account accounting accounts accrual accuracy acknowledgment acquisition act action addenda addendum
additional addresses adjustment administration admission advances adverse advertising advice advisor
affirmative agency agent agents aggregate alienation allocation allowances along alterations
alternative amortization ancillary announcement annual antitrust appeals appointment apportionment
appraisal area arising arrears articles assessment assets assignability assistance associate assumed
assumption assurance attachments attendance attestation attorneys attornment attribution audit
authorized authorship automatic availability award background balance bankruptcy basic basis bearer
beneficiaries bid bids billing board bonds bonus borrowing breach breaches breakage bribery bring
broker budget building buildings business buyout bylaws byproducts calculation calls cancellation
cap capacity capital caption care cash casualty cause certain certificates certification charges
choice civil claims classes classification clawback clean cleaning closing closure cobra code
collaboration collateral collection collective commencement commercial commission commissions
commitment common communications company compensation competition complaints completion compulsory
computation computer concerning concessions concurrent condemnation conditions conduct confidential
confirmation conflict conformity consequences consequential consideration consolidation consortium
consultant consultation consulting consumer contents contest contingencies contingent continuation
continuing contract contractor contractors contractual contribution contributions convenience
conversion convertible copies copyright corporate corrections corrective correspondence counsel
counterpart court covenants coverage covered creation credit creditors criminal cross cumulative
cure currency customer customers cut damage damages data database days deadlock dealer dealings debt
declaration deductions deed deemed default defaulting defence defense deferred definitive delay
delays delegation deletion deliverables delivery demand denial dependents deposit deposits
depreciation deputies derivative derivatives description design designation destruction details
detention determination development diligence direct direction directors disbursement discharge
disclaimer disclosed disclosing discontinuation discounts discovery discrepancies discretion
discrimination dismissal disposal disposition dispute disputes dissolution distribution
distributions distributor dividends documentation documents domain download drafting drag drawings
drug due duration early easements education effect election electronic eligibility eligible embargo
emergency eminent emissions employee employees employer encumbrance encumbrances energy enforcement
engagement enjoyment entertainment entirety entities entitlement entry environment environmental
equal equipment equitable equity errors escalation escrow essence estates estimated estoppel ethics
evaluation event events eviction evidence examination exceptions excess exchange excluded exclusion
exclusions exclusive exclusivity excuse execution exempt exemption exercise exhaustion exhibits
expansion expenditures expert experts expiration expiry export express expropriation extension
extensions external extraordinary facilities facility facsimile factors failure fair familiarity
fault favored favoured federal feedback fiduciary filing filings final finance first fitness fixed
fixtures flood floor forbearance force forecasts foreclosure foreign form formation forum forward
franchise fraud freedom functions funding funds future garden gender gifts good goods goodwill
governance government governmental grant grantor grievance grievances gross ground guarantee
guarantor guaranty guidelines handling harassment hardship hazardous health hearings hiring hold
holder holders holding holdover holiday holidays home host hostile hours housing identification
illegality immediate immunity impairment implementation implied import impositions impossibility
improvement improvements inability incentive incident incidental incidents inclusive income
incorporated incorporation incorrect increase increased incurable indebtedness indemnified
indemnifying indemnitees indemnities independence independent index indirect individual industrial
inform information infringement initial injunctions injunctive innovation inquiries insider
insolvency inspection inspections installation instalments instructions instruments insurance
insured insurers intangible intended intent intention interconnection interest interference interim
internal interruption introduction invalidity inventions inventory investment investments invoice
invoices invoicing irrevocable issuance issue itemized joint judicial keeping key keys know
knowledge labeling labor labour lack land landlord language late leasehold leave legal legend
legends lending lessee lessor letter letters levels leverage levies liability licence license
licensed licensee licenses licensor lien lifetime limitation limitations limited limits line lines
liquidated liquidation listing lists loan loans local location lock loss losses lost lower machinery
made mail maintenance majeure major majority make managed management mandatory manner manual
manufacture manufacturing mark market marketing marks marshalling material materials matters
maturity maximum measurement measures mechanical mechanics mediation medical meetings members
membership memorandum merger method migration milestones military minimum minutes misconduct
misrepresentation misuse mitigation modification monetary money monitoring monthly moral more
mortgage multiple mutual names national natural nature necessary negligence negotiation net neutral
nominations nonassignability noncircumvention noncompetition nondisclosure nonpayment
nonsolicitation nonwaiver normal notarization notice notification notifications novation nuisance
number objection objections objective obligated obligation obligations observance occupancy offer
offering office officers offset omissions ongoing onward open operating operation operations opinion
option optional options order orders ordinary origin original other outsourcing outstanding overdue
overhead overpayment overtime owner ownership packaging paid paragraphs parent parking partial
participants particular parties partner partners partnership passwords patents payee penalties
penalty pending penetration pension percentage performing period periods permission permits
permitted perquisites person personal personnel pests pets phases physical place plan plans platform
pledge policies policy portability possession post postponement power practice practices preamble
precautions precedence precedent preemption preemptive preference preferred preliminary premises
premium premiums preparation prepayment prepayments present presentation preservation press
preventive price prices pricing primary principal prior priority privacy private privilege
privileges pro procedure procedures process processing product production products professional
profit profits progress prohibited prohibition prohibitions project promissory promotion prompt
proof proper proposals proprietary prorated prospectus protection provisions public publication
purchase purchaser purchases purpose purposes put qualified qualifying quality quantity quarterly
quiet quorum quotation rata rates ratification ratio ratios real reallocation reasonable
reassignment rebates recall recapture receipt receivables receiver receiving recitals
reclassification recognition reconciliation reconstruction recording recoupment recourse recovery
rectification recurring redelivery redemption reduction references refund refunds refusal register
registered registration regular regulation regulations regulatory reimbursement reinstatement
rejection related relations relationship release reliability reliance relief relocation remaining
remarketing remarks removal remuneration renewal renewals rent rental reorganization repair repairs
repayment replacement replacements reporting reports repository repossession representative
representatives reproduction repurchase reputation requests required requirements resale rescission
research reservation reserve reserved residency residual residuals resignation resolution resources
respect responsibilities responsibility restatement restoration restraint restricted restriction
restrictions restrictive results retention retirement return returns revenue reverse review
revocation reward right rights risk risks rollover roofing room royalties royalty rules sabbatical
safe safeguards safety sample sanitation satisfaction savings schedules scope seals search season
second secrecy secret secrets sections secured securities security segregation selection self seller
senior seniority sensitive separability separate separation sequence service services servicing set
setoff settlement several severance share shareholder shareholders shares sharing shipment shipping
shop short shortfall sick signage signatures signing signs similar single site size social software
sole solely solicitation source sources space special specifications specified sponsor spouse staff
stages stamp standards standing start startup state status statutory stay step stock stockholders
stop stoppage storage strict strikes structure style subcontract subcontracting subcontractors
subcontracts subject sublease subleasing subletting submissions subordination subprocessors
subrogation subscribers subscription subsequent substance substantial substitution succession
sufficiency suit summary sums sunset superior supersession supervision supplement supplemental
supplier suppliers supplies supply support supremacy surety surrender survey surveys suspension
sustainability swingline system systems table tag takeover tangible taxation technical technologies
technology telephone templates temporary tenancies tenancy tenant tender tenure term termination
territory testing texts thereof third thresholds time timely times title tools tort total track
trade trademarks trading traffic training transaction transfer transferability transfers transition
translation transparency transportation travel treatment treaty trigger trust trustee trustees types
ultimate unauthorized uncertainty undertakings underwriting unenforceability unforeseen uniform unit
units unlawful unpaid unused update upgrades usage user users usury utilities utility vacancy
vacating valid validity valuation value variation vehicles vendor venue verification vessel vessels
vest violation visitors voluntary vote voting vulnerabilities wage wages waiting waivable waiver
walls warehouse warnings warranty waste water wear website welfare whistleblowing whole winding
withdrawal withholding witness words work workers working workplace works writing written wrongful
year years yield your zoning
"""

_TITLE_WORD = re.compile(r"[^\W\d_](?:[^\W\d_]|[\-\u2010\u2011](?=[^\W\d_]))*")
_BRACKETED = re.compile(r"\(\w{1,5}\)")  # "(ii)"
_POSSESSIVE_ENDING = re.compile(r"['’]s?\b")
_ROMAN = re.compile(r"[IVXLC]+")
_ROMAN_LABEL = re.compile(r"\b([IVXLC]{2,})\.\s*$")


def doubtful_words(heading: str, body: str, lexicon: Lexicon) -> tuple[str, ...]:
    """Return the words before a clause's body that may name a party, in order, in lower case.

    `heading`: the number and the heading that are no part of `body`. Its words are in doubt unless
    headings or the lexicon have them, or the body has them small. A heading is in doubt that
    consists of parties, or of words that are as often names, and a roman number before a firm.

    >>> from indexer.comparing.clauses.lexicon import default_lexicon
    >>> doubtful_words("7. Kestrel.", "The rent is due.", default_lexicon())
    ('kestrel',)
    >>> doubtful_words("7. Payment of Rent.", "It is due.", default_lexicon())
    ()
    """
    roman = _ROMAN_LABEL.search(heading)
    if roman and _begins_with_firm(body, lexicon.party_words):
        return (roman[1].lower(),)
    lines = " ".join(map(without_labels, heading.split("\n")))
    if lines.strip(" .:—–：").lower() in TITLES:
        return ()
    formatted = _TITLE_WORD.findall(_BRACKETED.sub(" ", lines))
    words = [word.lower() for word in formatted if len(word) > 1 and not _ROMAN.fullmatch(word)]
    content = [word for word in words if word not in FUNCTION and word not in DIVISIONS]
    stems = {word: lexicon.stem(word) for word in content}
    if content and lexicon.party_words.issuperset(stems.values()):
        return tuple(content)
    if content and all(stem(word) in NAMES_ALONE for word in content):
        return tuple(content)
    return tuple(
        word
        for word in content
        if not is_heading_word(word)
        and (stems[word],) not in lexicon.canonical
        and re.search(rf"\b{re.escape(word)}\b", body) is None
    )


def is_counted_in_doubt(counted: str) -> bool:
    """Return whether a word before a number may name a thing, as "boeing 747" does."""
    return bool(counted) and not is_heading_word(counted.partition(" ")[0])


def _begins_with_firm(text: str, parties: frozenset[str]) -> bool:
    """Return whether the words before the first small one are a firm's name: "Pepper LLC"."""
    capitalised = takewhile(lambda word: not word[0].islower(), text.split())
    words = {_POSSESSIVE_ENDING.sub("", word).strip(",.").lower() for word in capitalised}
    return not FIRM_WORDS.isdisjoint(words - parties)


@cache
def _stems() -> frozenset[str]:
    words = f"{_PROVISIONS} {_OTHERS}".split()
    return frozenset(map(stem, {*words, *HEADING_WORDS, *FUNCTION, *DIVISIONS}))


def is_heading_word(word: str) -> bool:
    """Return whether a word in lower case is one of which headings consist.

    The parts of one with hyphens must all be such.

    >>> [is_heading_word(word) for word in ("severability", "non-disclosure", "kestrel")]
    [True, True, False]
    """
    parts = re.split(r"[-\u2010\u2011]", word)
    return all(len(part) < 2 or stem(part) in _stems() for part in parts)


_END = re.compile(
    r"(?P<sign>[.:—–]+|(?<=\w)\]|(?<=\s)--?)[*_\"”’'\])]*\.?(?P<gap>\s+[*_]*)(?=\S)"
    r"|[*_]*(?P<line>[ \t]*\n\s*)(?=\S)"
)
_BEFORE = re.compile(r"[*_#]*\s*[\"“‘'\[]?")
_WORD = re.compile(r"[^\W\d_][^\W_]*(?:[.'’\-][^\W_]+)*")
_BEGINS = re.compile(r"[\"“‘'(\[$€£¥@#§]*[^\W_]|§")
_BEGINS_SMALL = re.compile(rf"[\"“‘'(\[]*{SMALL_NAME}")
_PART = rf"(?:[A-Z][\w.'’&\-]*|&|{'|'.join(sorted(SMALL_FORMS))})(?!\w)"
_RUN = re.compile(rf"{_PART}(?:,?[^\S\n]+{_PART})*")
_NEXT = re.compile(r"[^\S\n]*(?P<comma>,)?\s*(?:(?i:hereby|also)\s+)?(?P<word>[^\W\d_]+)")
_PLAIN_NUMBER = re.compile(r"(?:[^\W\d_]+\.?|§+)\s*(?:[\dIVXLC]+|[^\W\d_]+)[^\S\n]+")
_TITLE_NUMBER = re.compile(r"^[\d.]+\)?\s+")
_POSSESSIVE = re.compile(r"['’]s?$")
_FIRST = re.compile(r"[\"“‘'(\[*_]*(?P<word>[^\W\d_]+)(?=[\s,])")
_NOUN = re.compile(r"(?=\w{6})\w+(?:tion|sion|ment|ity|[ae]nce|ness|ing|ship|ure|cy|ty|ery|ie)s?")
_RELATIONS = frozenset(["to", "of", "by", "for", "from", "with", "against", "on", "upon"])
_SHOUTED_LIST = re.compile(  # ARTICLE II VENTURES, AS GUARANTOR
    rf"(?P<name>[^a-z]+?),\s+(?:{'|'.join(sorted(word.upper() for word in FUNCTION))})\b[^a-z]*$"
)
_TITLE = "|".join(map(re.escape, sorted(TITLES, key=len, reverse=True)))
_OTHER_TITLE = re.compile(
    rf"(?i:{_TITLE})(?:[ \t]*[.:—–：]\s*|[ \t\u3000]*\n\s*)(?=\S)(?!(?-i:[a-z]))"
)
_NAME_GOES_ON = PARTY_ACTS | {"and", "or"}
_BODIES = FIRM_WORDS | ORGANISATIONS
_LONGEST, _MAX_WORDS = 80, 10
_SPARE = 12  # characters by which a title is shorter than a wrapped line


def body(text: str, heading: str = "", parties: frozenset[str] = frozenset()) -> str:
    """Return the text without its clause number and without its heading.

    The heading is `heading`, else a first run of capitalised words without a verb or a name, before
    a sentence or on a line of its own. A text that is nothing else stays as it is. A number that is
    part of a name stays, and is put back where it is the heading. `parties` are words in lower case
    that name a party: "Tenant:" says whose the sentence is.

    >>> body("Section 14.06 Successors and Assignors. All covenants shall bind.")
    'All covenants shall bind.'
    >>> body("Acme, Inc. shall pay the rent."), body("Payments to Acme Inc. The rent is due.")
    ('Acme, Inc. shall pay the rent.', 'Payments to Acme Inc. The rent is due.')
    """
    rest = _without_label(text, parties)
    for start in (text.lstrip(), rest):
        if heading and start[: len(heading)].casefold() == heading.casefold():
            after = start[len(heading) :].lstrip(" .:—–\n")
            if _is_name_of(heading, after, parties):
                return start
            return rest if _belongs_to_text(heading, after, parties) else after or text
    if _is_name_of(heading, text, parties):
        return f"{heading} {text}"
    title = _TITLE_NUMBER.sub("", _without_label(heading, parties))
    if _belongs_to_text(title, text, parties) and not rest.startswith(title):
        return f"{title}. {text}"
    if other := _OTHER_TITLE.match(rest):
        return rest[other.end() :]
    return rest[_heading_end(rest, parties, len(text.lstrip()) - len(rest)) :] or text


def _without_label(text: str, parties: frozenset[str]) -> str:
    """Return the text without the numbers and letters at its beginning."""
    rest = text.lstrip()
    return rest[
        label_end(
            rest,
            lambda label, after: _begins_name(label, after, parties),
            lambda label, after: _begins_clause(label, after, parties),
        ) :
    ]


def _is_name_of(heading: str, text: str, parties: frozenset[str]) -> bool:
    """Return whether a heading is a number that is part of a name, and the text its rest."""
    label = LABEL.match(f"{heading} {text}")
    is_number = label is not None and label.end() == len(heading) + 1
    return is_number and _begins_name(f"{heading} ", text, parties)


def _belongs_to_text(heading: str, text: str, parties: frozenset[str]) -> bool:
    """Return whether an extracted heading is an abbreviation of a name, or has a name in it."""
    words = _WORD.findall(heading)
    if not words or not text or VERBS.intersection(word.lower() for word in words):
        return False
    if _has_name(words, text, parties):
        return True
    return _RUN.match(text) is not None and not _is_ended(words, text, parties)


def _begins_name(label: str, text: str, parties: frozenset[str]) -> bool:
    """Return whether a number and the capitalised words after it are a name: "Section 8 Capital".

    Before the last words of a firm's name alone any label is part of the name: "4A. Holdings
    shall". A division's whole number without a sign is
    before a name that ends so, and before what no heading and no party is and does as a party does:
    "Article 5 Coffee shall", "Section 8 Bluebird, as".
    """
    word = _WORD.match(label.lstrip())
    if word and _singular(word.group()) in parties:  # "Tenant 1: The"
        return True
    run = _RUN.match(text)
    if run is None:
        return False
    shouted = _SHOUTED_LIST.match(run.group())
    run_text = shouted["name"] if shouted else run.group()
    formatted = _WORD.findall(re.sub(r"['’]s\b", "", run_text))
    words = [_POSSESSIVE.sub("", word.lower()) for word in formatted]
    verb = next((index for index, word in enumerate(words) if word in PARTY_ACTS), len(words))
    after = _NEXT.match(text, run.end())
    goes_on = verb < len(words) or (
        after is not None and (after["comma"] is not None or after["word"] in _NAME_GOES_ON)
    )
    goes_on = goes_on or shouted is not None
    words = words[:verb]
    has_form = any(word in COMPANY_FORMS and word not in parties for word in words)
    if has_form and FIRM_WORDS.issuperset(words):
        return True
    goes_on = goes_on or run.group().endswith(("'s", "’s", "s'", "s’"))
    is_firm = bool(words) and FIRM_WORDS.issuperset(words)
    if is_firm and goes_on and parties.isdisjoint(map(_singular, words)):
        return True
    is_party = any(_singular(word) in parties and word not in FIRM_WORDS for word in words)
    if not _PLAIN_NUMBER.fullmatch(label) or not words or words[0] in FUNCTION or is_party:
        return False
    if _heading_end(text, parties, len(label)):
        return False
    return words[-1] in FIRM_WORDS or goes_on


def _begins_clause(label: str, text: str, parties: frozenset[str]) -> bool:
    """Return whether a sentence or a heading begins after a letter or a number without a sign.

    After a number only a heading of known words does, and no firm: "4A Rent", "4A Company".
    """
    word = _WORD.match(text)
    first = word.group().lower() if word else ""
    end = _heading_end(text, parties, len("A. "))
    if label.strip().endswith("."):
        return first in STARTERS or first in parties or end > 0
    is_party = first in parties and first not in _BODIES
    return is_party or first in STARTERS or (end > 0 and _is_known(_WORD.findall(text[:end])))


def _heading_end(text: str, parties: frozenset[str], number: int) -> int:
    """Return the offset where the body begins after a heading, 0 where there is no heading.

    `number`: the characters before the text on its line, 0 without a number.
    """
    begin = _BEFORE.match(text)
    start = begin.end() if begin else 0
    for end in _END.finditer(text, start, start + _LONGEST + 20):
        title = text[start : end.start()]
        symbol = end["sign"] or ""
        words = _WORD.findall(title)
        if symbol.startswith(".") and words and is_abbreviation(words[-1]):
            continue
        rest = text[end.end() :]
        if not _is_title(title, words) or not _BEGINS.match(rest) or _is_small(rest):
            return 0
        is_apart = end.group().count("\n") > 1
        if symbol.startswith(".") and not is_apart and not _is_ended(words, rest, parties):
            return 0
        is_weak = symbol.startswith(("]", "-"))  # signs that names have, too
        if _has_name(words, rest, parties):
            return 0
        if is_weak and not _begins_sentence(rest):
            return 0
        if end["line"] and not _is_own_line(end["line"], title, rest, parties, number):
            return 0
        speaks = ":" in symbol and all(_singular(word) in parties for word in words)
        return 0 if speaks else end.end()
    return 0


def _is_ended(title: list[str], rest: str, parties: frozenset[str]) -> bool:
    """Return whether a full stop ends a heading, by the words before and after it.

    Before "The" and other words that begin sentences it does. Else the last word must be whole;
    before a name all words must be, and in themselves.
    """
    first = _FIRST.match(rest)
    if first and first["word"].lower() in STARTERS:
        return _begins_sentence(rest)
    if all(word.lower() in FUNCTION or _is_whole(word, "", parties) for word in title):
        return True
    run = _RUN.match(rest)
    if run is None or not _is_whole(title[-1], rest, parties):
        return False
    words = _WORD.findall(run.group())
    if len(words) != 1 or run.group().endswith("."):
        return False
    return _singular(words[0]) in parties or words[0].lower() not in _BODIES


def _begins_sentence(rest: str) -> bool:
    """Return whether a text begins with a word that begins sentences, and no firm: "The LLC"."""
    first = _FIRST.match(rest)
    if first is None or first["word"].lower() not in STARTERS:
        return False
    after = _WORD.search(rest, first.end())
    return after is None or after.group().lower() not in COMPANY_FORMS


def _is_known(title: list[str]) -> bool:
    """Return whether a title has only words of headings."""
    words = map(str.lower, title)
    return all(word in FUNCTION or is_heading_word(word) for word in words)


def _is_whole(word: str, rest: str, parties: frozenset[str]) -> bool:
    """Return whether a word is no abbreviation and no name.

    Such are parties, nouns by their ending, words of headings, and what the text below has small.
    """
    folded = word.lower()
    return (
        folded in HEADING_WORDS
        or _singular(folded) in parties
        or _NOUN.fullmatch(folded) is not None
        or re.search(rf"\b{re.escape(folded)}\b", rest) is not None
    )


def _has_name(words: list[str], rest: str, parties: frozenset[str]) -> bool:
    """Return whether a heading may have a name in it: "Kestrel Group", "Release of Kestrel"."""
    folded = [word.lower() for word in words]
    for index in range(1, len(words)):
        is_last = index + 1 == len(words) or folded[index + 1] in FUNCTION
        is_after_name = folded[index - 1] not in FUNCTION and not _is_whole(
            words[index - 1], rest, parties
        )
        if is_last and folded[index] in _BODIES and is_after_name:
            return True
    relation = next((index for index, word in enumerate(folded) if word in _RELATIONS), len(words))
    return not all(word in FUNCTION or _is_whole(word, rest, parties) for word in folded[relation:])


def _is_title(title: str, words: list[str]) -> bool:
    """Return whether there are few words, all capitalised but function words, no verb, no name."""
    folded = [word.lower() for word in words]
    return (
        len(title) <= _LONGEST
        and 0 < len(words) <= _MAX_WORDS
        and not any(char.isdigit() or char == "." for char in title)
        and not VERBS.intersection(folded)
        and not any(map(_is_company, words, words[1:]))
        and not any(map(_is_mixed, words))
        and all(word[0].isupper() or word.lower() in FUNCTION for word in words)
        and not FUNCTION.issuperset(folded)
        and not all(map(_ROMAN.fullmatch, words))
    )


def _is_company(before: str, word: str) -> bool:
    """Return whether two words are the end of a company's name, unlike "the Corporation"."""
    return word.lower() in COMPANY_FORMS and before.lower() not in FUNCTION


def _is_mixed(word: str) -> bool:
    """Return whether a word has a capital inside, as the names of companies have it."""
    return word != word.upper() and any(
        part[1:] != part[1:].lower() for part in re.split(r"['’\-]", word)
    )


def _is_small(text: str) -> bool:
    """Return whether a sentence goes on: the next letter is a small one, and not of a name."""
    letter = re.search(r"[^\W_]", text)
    is_small = letter is not None and letter.group().islower()
    return is_small and _BEGINS_SMALL.match(text) is None


def _is_own_line(gap: str, title: str, rest: str, parties: frozenset[str], number: int) -> bool:
    """Return whether a line is a heading by the lines around it.

    A blank line follows, or it is in capitals and the text below is not. Else no wrapped text
    breaks there, for the next word would have fitted on the line, and a sentence begins below: by a
    function word, after a number by a party, or by any word where the line is clearly shorter.
    """
    if gap.count("\n") > 1 or (title == title.upper() and rest != rest.upper()):
        return True
    lines = rest.split("\n")
    spare = max(map(len, lines)) - number - len(title) - 1 - len(lines[0].split(" ", 1)[0])
    word = _WORD.match(rest)
    first = word.group().lower() if word else ""
    if first in FUNCTION or (number and _singular(first) in parties):
        return spare >= 0
    return number > 0 and spare >= _SPARE


def _singular(word: str) -> str:
    return re.sub(r"(?:['’]s?|s)$", "", word.lower())
