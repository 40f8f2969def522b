"""Words that clauses are changed by: synonyms, phrases, opposites, and what stands in slots.

Of the synonyms, `KNOWN` are in the detector's list and `UNKNOWN` are not; a test holds them to
that.
"""

from __future__ import annotations

KNOWN = {
    "pay": "remit", "promptly": "without delay", "before": "prior to", "terminate": "cancel", "maintain": "keep",
    "approval": "consent", "breach": "violation", "deliver": "hand over", "provide": "furnish", "use": "utilize",
    "modify": "amend", "modified": "altered", "liability": "responsibility", "costs": "expenses",
    "writing": "written form", "begin": "commence", "purchase": "buy", "obligation": "duty", "entire": "whole",
    "if": "in the event that", "sole": "exclusive", "purchase price": "buying price", "law": "statute", "damages": "harm",
    "shall": "must", "under": "pursuant to", "modification": "alteration", "transfer": "assign", "required": "obliged",
    "permitted": "allowed", "lawyers": "attorneys", "agreement": "contract",
}  # fmt: skip
UNKNOWN = {
    "copy": "duplicate", "copies": "duplicates", "notice": "notification", "claims": "demands", "staff": "personnel",
    "goods": "merchandise", "receives": "obtains from time to time", "reasonable": "sensible", "build": "construct",
    "software": "program", "sum": "amount", "sums": "amounts", "books": "ledgers", "annual": "yearly",
    "immediately": "at once", "documentation": "manuals", "source": "origin", "works": "creations",
    "distribute": "circulate", "distribution": "circulation", "conditions": "requirements", "receipt": "reception",
    "loss": "detriment", "including": "among them", "terms": "provisions", "fee": "charge", "fees": "charges",
    "further": "additional", "land": "ground", "section": "clause", "conspicuous": "prominent", "accompany": "go with",
    "contributors": "authors", "applicable": "relevant", "loan": "credit", "shares": "stock", "receive": "get",
    "following": "subsequent", "number": "count",
}  # fmt: skip
ADDED = (
    "in good faith", "to the extent permitted by applicable rules", "from time to time", "as the case may be",
    "in its reasonable judgment", "at its own expense", "for the avoidance of doubt", "in each instance",
    "on a timely basis", "without limitation", "if applicable",
)  # fmt: skip
ROLES = (
    ("Landlord", "Tenant"), ("Seller", "Buyer"), ("Licensor", "Licensee"), ("Lender", "Borrower"),
    ("Company", "Consultant"), ("Contractor", "Owner"), ("Sponsor", "Trustee"), ("Supplier", "Customer"),
    ("Employer", "Executive"), ("Franchisor", "Franchisee"),
)  # fmt: skip
FIRMS = (
    "Northfield Holdings, Inc.", "Quarry Lane LLC", "Brightwater Bank", "Tessel & Roe Limited", "Avonmere Foods plc",
    "Halden Shipping AG", "Orchard Medical Group", "Pine Ridge Partners LP", "Solway Energy Corp.", "Merrow Textiles",
)  # fmt: skip
PLACES = (
    "New York", "the State of Delaware", "England and Wales", "Ontario", "the Netherlands", "Singapore",
    "the Commonwealth of Virginia",
)  # fmt: skip
DOCUMENTS = (
    "this Agreement", "this Indenture", "this Lease", "this Contract", "this Deed", "this Master Services Agreement",
)  # fmt: skip
STREETS = (
    "12 Main Street, Springfield", "400 Harbour Road, Bristol", "7 Old Mill Lane, Trenton, New Jersey 08601",
    "85 Canal Street, Leeds",
)  # fmt: skip
MONTHS = (
    "January", "March", "April", "June", "September", "December",
)  # fmt: skip
OPPOSITES = (
    ("before", "after"), ("including", "excluding"), ("greater", "less"), ("exclusively", "jointly"),
    ("include", "exclude"), ("without", "with"), ("all", "none"), ("in advance", "in arrears"),
    ("permitted", "prohibited"), ("later", "earlier"), ("at least", "at most"), ("any", "no"), ("above", "below"),
    ("freely", "rarely"), ("with", "without"),
)  # fmt: skip
