"""Words that the headings of contracts and statutes consist of, and those that may be names.

A heading is cut by its structure, which "Kestrel. The rent is due." has, too. Whether its words
name a party no structure tells, so clauses whose headings differ in words that no heading is known
to have are not called identical.

The names of provisions are those of LEDGAR (Tuggener et al., "LEDGAR: A Large-Scale Multi-label
Corpus for Text Classification of Legal Provisions in Contracts", LREC 2020), the others those that
stand beside them in headings. Words are compared by their stems, so one serves its inflections.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import takewhile

from indexer.text.clauses.function_words import (
    DIVISIONS,
    FIRM_WORDS,
    FUNCTION,
    HEADING_WORDS,
    NAMES_ALONE,
)
from indexer.text.clauses.labels import without_labels
from indexer.text.clauses.lexicon import Lexicon
from indexer.text.stems import stem

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

_WORD = re.compile(r"[^\W\d_](?:[^\W\d_]|[\-\u2010\u2011](?=[^\W\d_]))*")
_BRACKETED = re.compile(r"\(\w{1,5}\)")  # "(ii)"
_POSSESSIVE = re.compile(r"['’]s?\b")
_ROMAN = re.compile(r"[IVXLC]+")
_ROMAN_LABEL = re.compile(r"\b([IVXLC]{2,})\.\s*$")


def doubtful_words(heading: str, body: str, lexicon: Lexicon) -> tuple[str, ...]:
    """Return the words before a clause's body that may name a party, in order, in lower case.

    `heading`: the number and the heading that are no part of `body`. Its words are in doubt unless
    headings or the lexicon have them, or the body has them small. A heading is in doubt that
    consists of parties, or of words that are as often names, and a roman number before a firm.

    >>> from indexer.text.clauses.lexicon import default_lexicon
    >>> doubtful_words("7. Kestrel.", "The rent is due.", default_lexicon())
    ('kestrel',)
    >>> doubtful_words("7. Payment of Rent.", "It is due.", default_lexicon())
    ()
    """
    roman = _ROMAN_LABEL.search(heading)
    if roman and _begins_with_firm(body, lexicon.party_words):
        return (roman[1].lower(),)
    lines = " ".join(map(without_labels, heading.split("\n")))
    spelled = _WORD.findall(_BRACKETED.sub(" ", lines))
    words = [word.lower() for word in spelled if len(word) > 1 and not _ROMAN.fullmatch(word)]
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
    words = {_POSSESSIVE.sub("", word).strip(",.").lower() for word in capitalised}
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
