"""Contract clauses of our own: heading, an obligation, another obligation under the same heading,
boilerplate of both.

{A} and {B} are parties, {doc} the contract; {amount} {days} {pct} {date} {place} {address} differ
between contracts.
"""

from __future__ import annotations

CLAUSES: tuple[tuple[str, str, str, str], ...] = (
    (
        "Insurance",
        "{A} shall maintain commercial general liability insurance with limits of at least "
        "{amount} per occurrence "
        "and shall deliver certificates of insurance to {B} within {days} days after {date}.",
        "{A} shall repair the heating, plumbing and electrical systems of the building and shall "
        "replace broken "
        "windows for {B} within {days} days after {date}.",
        "Every policy, contractor or supplier chosen for this purpose must be reasonably "
        "acceptable to {B}, and the "
        "costs are borne by {A}.",
    ),
    (
        "Confidentiality",
        "{A} shall keep secret all technical and commercial information received from {B} and may "
        "not disclose it to "
        "any third person without prior written consent.",
        "{A} shall publish quarterly summaries of all research funded by {B} and may distribute "
        "copies at scientific "
        "conferences of its choice.",
        "The provisions of this section survive the expiration of {doc} for a period of {days} "
        "months and bind "
        "successors of both.",
    ),
    (
        "Indemnification",
        "{A} shall defend and indemnify {B} from all losses, claims and reasonable legal fees "
        "that arise out of "
        "negligent acts of its staff.",
        "{A} shall reimburse {B} for travel, lodging and meals that are incurred in visits to the "
        "plant of its affiliate.",
        "Written notice of every claim must be given within {days} days, and the aggregate sum "
        "payable under this "
        "section shall be limited to {amount}.",
    ),
    (
        "Assignment",
        "Neither {A} nor {B} may assign {doc}, in whole or in part, unless the other has approved "
        "the assignment in writing.",
        "Both {A} and {B} keep complete accounting records of {doc}, in paper or digital form, "
        "until the other has "
        "examined the records.",
        "An attempt to act contrary to this section has no effect, and the party in breach bears "
        "the resulting "
        "expenses up to {amount}.",
    ),
    (
        "Payment of Rent",
        "{A} shall pay to {B} a monthly rent of {amount} in advance on the first business day of "
        "each calendar month,"
        " free of any deduction.",
        "{A} shall grant to {B} unrestricted access to the loading dock and parking garage on "
        "each business day from "
        "dawn to dusk.",
        "Interest accrues on overdue sums at {pct} per annum from {date} until the account has "
        "been settled in full.",
    ),
    (
        "Termination for Convenience",
        "{A} may terminate {doc} at any time, for any reason or for no reason, by giving {B} at "
        "least {days} days' "
        "written notice.",
        "{A} may extend {doc} for one further term, on the same conditions and prices, by sending "
        "{B} a signed "
        "renewal {days} days ahead.",
        "All sums earned until that day fall due at once, and equipment lent by {B} must be "
        "returned to its warehouse"
        " at {address}.",
    ),
    (
        "Governing Law",
        "{doc} and all disputes that arise from it are governed by and construed according to the "
        "laws of {place}, "
        "without regard to its rules on conflicts of laws.",
        "{doc} and all translations of it are executed in four counterparts, each of which is an "
        "original, and are "
        "kept by the notary in {place}.",
        "The parties submit to the jurisdiction of the competent courts there, and service of "
        "process may be made at "
        "{address}.",
    ),
    (
        "Delivery",
        "{A} shall ship the goods to {B} at {address} by an insured carrier and bears the risk of "
        "loss until the "
        "carrier hands them over.",
        "{A} shall train the operators of {B} at {address} by qualified instructors and supplies "
        "manuals until the "
        "operators pass the examination.",
        "Delays caused by flood, fire, strike or acts of government extend the schedule by an "
        "equal period but not "
        "beyond {date}.",
    ),
    (
        "Warranty",
        "{A} warrants that the software performs substantially as described in the documentation "
        "for {days} months "
        "after installation at {B}.",
        "{A} hosts the website on redundant servers in a guarded data centre for {days} months "
        "after registration of "
        "domains by {B}.",
        "The sole remedy is correction of the malfunction at no charge or, failing that, a refund "
        "of the fees "
        "received, at most {amount}.",
    ),
    (
        "Non-Competition",
        "During the term and for {days} months afterwards, {A} shall not own, manage or work for "
        "any enterprise in "
        "{place} that competes with {B}.",
        "During the term and for {days} months afterwards, {A} shall vote all shares it holds in "
        "{place} as the "
        "chairman of {B} directs.",
        "The parties consider this restriction reasonable; a court may reduce its scope, and a "
        "fee of {amount} "
        "compensates for it.",
    ),
    (
        "Audit",
        "{B} may examine the books and records of {A} relating to royalties once in every "
        "calendar year, on {days} "
        "days' notice and during office hours.",
        "{B} may store its surplus machinery in the eastern warehouse of {A} once in every "
        "calendar year, on {days} "
        "days' notice and at its own risk.",
        "If a shortfall greater than {pct} comes to light, {A} bears the fees of the accountant "
        "and settles the "
        "difference promptly.",
    ),
    (
        "Notices",
        "All notices under {doc} must be written in English and sent by registered mail or "
        "courier to {B} at "
        "{address}, attention of its secretary.",
        "All drawings under {doc} must be signed by an engineer and drawn at full scale on linen "
        "for {B} at "
        "{address}, approved by its surveyor.",
        "They are deemed received {days} business days after dispatch; either party may change "
        "its particulars by a "
        "letter to the other.",
    ),
    (
        "Conditions Precedent",
        "The obligation of {A} to advance the loan of {amount} depends on receipt of a legal "
        "opinion, a board "
        "resolution and evidence of title from {B}.",
        "The obligation of {A} to vacate the office on {date} depends on completion of a fire "
        "stair, a freight "
        "elevator and a new roof by {B}.",
        "These conditions are for the benefit of {A} alone, who may waive them in whole or in "
        "part by a signed "
        "statement before {date}.",
    ),
    (
        "Events of Default",
        "It is an event of default if {A} fails to pay principal or interest within {days} days "
        "after its due date, "
        "or becomes insolvent.",
        "It is an event of default if {A} drills a well or fells timber within {days} metres of "
        "the river, or blocks "
        "a public footpath.",
        "Upon such an event {B} may by notice declare the outstanding balance of {amount} "
        "immediately due and realise"
        " its collateral.",
    ),
    (
        "Intellectual Property",
        "All inventions, designs and works of authorship that {A} creates while performing the "
        "services belong "
        "exclusively to {B} from their creation.",
        "All vehicles, uniforms and mobile phones that {A} needs while performing the services "
        "are leased at cost "
        "from {B} from their delivery.",
        "{A} signs every further document that is needed to perfect this arrangement and receives "
        "{amount} for each "
        "application filed.",
    ),
    (
        "Dividends",
        "The board shall distribute to the holders of preferred shares a cumulative dividend of "
        "{pct} a year, payable"
        " quarterly starting on {date}.",
        "The board shall appoint from the holders of preferred shares an advisory committee of "
        "three, meeting "
        "quarterly starting on {date}.",
        "No resolution of {A} may vary this right without the affirmative vote of a majority of "
        "that class at a "
        "meeting in {place}.",
    ),
    (
        "Environmental Matters",
        "{A} shall remove all hazardous substances from the land at {address} and restore the "
        "soil to the standard "
        "that the statute requires.",
        "{A} shall plant four rows of oak trees on the land at {address} and water the saplings "
        "in summers that the "
        "forester calls dry.",
        "The work is finished by {date}; {B} may inspect it and, after {days} days' warning, "
        "complete it at the "
        "expense of {A}.",
    ),
    (
        "Escrow",
        "The escrow agent holds the deposit of {amount} in a separate interest-bearing account "
        "and releases it to {B}"
        " on joint written instructions only.",
        "The escrow agent holds the source code on encrypted disks in a fireproof vault and "
        "verifies every update of "
        "{B} by test compilation only.",
        "It is not liable for any loss except through gross negligence, and may resign on {days} "
        "days' notice to {A} and {B}.",
    ),
    (
        "Use of Premises",
        "{A} may use the premises at {address} solely as a restaurant and bakery and may not "
        "store inflammable "
        "liquids or keep animals there.",
        "{A} may sublet the rooms at {address} freely to students or nurses and may not charge "
        "them more than the "
        "official average rent.",
        "Signs on the outside wall require the approval of {B}, which shall be given or refused "
        "within {days} days of"
        " the request.",
    ),
    (
        "Force Majeure",
        "Neither party is responsible for a failure to perform that is caused by war, earthquake, "
        "epidemic or "
        "embargo, as long as the cause persists.",
        "Neither party is represented in the arbitration that is conducted by lawyers, brokers, "
        "relatives or "
        "employees, as long as the hearing lasts.",
        "The party concerned informs the other within {days} days; if the situation exceeds "
        "{days2} days, {B} may "
        "rescind {doc}.",
    ),
    (
        "Severance",
        "If the employment of {A} ends without cause before {date}, {B} shall pay severance equal "
        "to annual base "
        "salary and continue health benefits.",
        "If the employment of {A} continues without break beyond {date}, {B} shall award stock "
        "options under the "
        "incentive plan and enrol dependants.",
        "Payment is made in equal instalments over {days} months, subject to a signed release of "
        "all claims, and "
        "shall not exceed {amount}.",
    ),
    (
        "Prepayment",
        "{A} may prepay the loan in whole or in part on any interest date, together with accrued "
        "interest and a "
        "premium of {pct} of the sum prepaid.",
        "{A} may convert the loan in whole or in part into ordinary shares at the price of the "
        "last financing round, "
        "with voting rights of {pct} for each.",
        "Notice must reach {B} no later than {days} business days before and, once given, cannot "
        "be revoked; sums "
        "below {amount} are refused.",
    ),
    (
        "Board Representation",
        "For as long as {A} owns {pct} of the shares, it is entitled to nominate two directors, "
        "and {B} shall cause "
        "their election.",
        "For as long as {A} owns {pct} of the shares, it is furnished with monthly management "
        "accounts, and {B} shall"
        " explain any variance.",
        "This right is personal, may not be transferred apart from the shares, and lapses upon a "
        "public offering in "
        "excess of {amount}.",
    ),
    (
        "Taxes",
        "{A} shall withhold and remit all payroll, social security and unemployment taxes on "
        "wages, and furnish "
        "receipts of the authority to {B}.",
        "{A} shall collect and recycle all glass, cardboard and metal packaging on site, and "
        "furnish weight tickets "
        "of the depot to {B}.",
        "Penalties for late filing after {date} fall on the party at fault; the other is refunded "
        "within {days} days "
        "with interest of {pct}.",
    ),
    (
        "Marketing",
        "{A} shall spend at least {pct} of net revenue on advertising the products in {place} and "
        "use the trade marks"
        " of {B} in each campaign.",
        "{A} shall recruit at least {days} apprentices with diplomas of a technical college in "
        "{place} and teach them"
        " the methods of {B} in each workshop.",
        "A written plan is handed in every spring; {B} comments on it by {date}, and silence "
        "counts as approval.",
    ),
    (
        "Right of First Refusal",
        "Before {A} sells any shares to a third person, it shall offer them to {B} on the same "
        "terms, and the offer "
        "stays open for {days} days.",
        "Before {A} hires any senior manager from a competitor, it shall present the candidate to "
        "{B} at a dinner, "
        "and references stay valid for {days} days.",
        "After that time {A} is free to proceed until {date}; later the procedure of this section "
        "begins anew.",
    ),
    (
        "Maintenance Services",
        "{B} shall correct critical errors within {days} hours after a report by telephone and "
        "install a permanent "
        "remedy with the next release.",
        "{B} shall migrate historical archives within {days} weeks after a request by letter and "
        "destroy the magnetic"
        " tapes with an industrial shredder.",
        "The yearly charge of {amount} is invoiced in advance, may rise by at most {pct} each "
        "year, and includes "
        "visits at {address}.",
    ),
    (
        "Restrictive Legend",
        "Each certificate for the shares bears a legend that they are unregistered and may be "
        "sold only under an "
        "exemption or a registration statement.",
        "Each bottle from the vineyard bears a label that names the grape, the slope and the year "
        "and may be sealed "
        "only with cork or a glass stopper.",
        "{A} replaces such items without charge once counsel of {B} confirms in an opinion dated "
        "after {date} that "
        "the statement is no longer needed.",
    ),
    (
        "Site Safety",
        "{A} shall provide helmets, harnesses and safety training to every worker and appoint a "
        "competent supervisor "
        "for each shift on the site at {address}.",
        "{A} shall provide breakfast, lunch and drinking water to every worker and appoint a "
        "licensed caterer for "
        "each canteen on the site at {address}.",
        "Shortcomings noted by the inspector of {B} are cured within {days} days; a penalty of "
        "{amount} applies to "
        "each further day.",
    ),
    (
        "Dispute Resolution",
        "Any controversy that the managers do not settle within {days} days is finally resolved "
        "by three arbitrators "
        "sitting in {place}.",
        "Any surplus that the managers do not invest within {days} days is equally divided by "
        "three charities working"
        " in {place}.",
        "The language is English, the decision binds {A} and {B}, and its costs up to {amount} "
        "are shared between "
        "them in equal parts.",
    ),
)

FORMULAS: tuple[tuple[str, str], ...] = (
    (
        "Purchase Price Adjustment",
        "The adjusted price P is computed by the formula P = {n} x (W - {m}) / {k}, where W is "
        "working capital at "
        "closing as shown in the audited balance sheet and all figures are stated in thousands.",
    ),
    (
        "Leverage Ratio",
        "The Company shall not permit the ratio of total debt to earnings before interest, taxes "
        "and depreciation to "
        "exceed {n} to 1.00 at the end of any fiscal quarter, calculated on a consolidated basis "
        "for the four "
        "quarters then ended.",
    ),
    (
        "Fixed Charge Coverage",
        "The Borrower shall maintain a fixed charge coverage ratio of at least {n}:1.00, tested "
        "monthly on a trailing"
        " basis, and shall report the computation in each compliance certificate signed by its "
        "chief financial "
        "officer.",
    ),
    (
        "Exchange Rate",
        "For the purposes of this section sums in foreign currency are translated at the rate of "
        "exchange of {n} "
        "Dollars for one Euro, rounded to the nearest cent, and differences are carried to the "
        "currency account of "
        "the Lender.",
    ),
    (
        "Royalty Rate",
        "The royalty is the net sales of the quarter multiplied by {n} and divided by {k}, less "
        "returns and "
        "allowances that were granted in good faith, and it is accounted for country by country.",
    ),
    (
        "Pricing Grid",
        "The applicable margin depends on the level that the last certificate shows:\n"
        "Level I {n} {m}\n"
        "Level II {k} {j}\n"
        "Level III {j} {n}\n"
        "and changes on the third business day after the certificate is delivered.",
    ),
    (
        "Conversion",
        "Each share of preferred stock converts into common stock at a conversion price of ${n}, "
        "adjusted for splits "
        "and combinations, and fractions of a share are settled in cash at fair market value.",
    ),
    (
        "Amortization",
        "The principal is repaid in accordance with this schedule and without set-off or "
        "counterclaim of any kind:\n"
        "2021 {n} {m}\n"
        "2022 {k} {j}\n"
        "2023 {m} {k}\n"
        "and the remaining balance is due at maturity.",
    ),
    (
        "Interest Computation",
        "Interest for any period equals principal × {n} × days / {k}, and is payable in arrears "
        "on the last day of "
        "the period to the account that the Administrative Agent has most recently designated.",
    ),
    (
        "Earn-Out",
        "If E > {n} then the Seller receives an additional payment equal to {m} * (E - {n}), "
        "where E stands for the "
        "operating profit of the business in the second full year after closing under the "
        "accounting principles "
        "consistently applied.",
    ),
)
