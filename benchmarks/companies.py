"""Names of firms and persons of some thirty countries, and clauses that they stand in.

They were written down before the rules that join the pieces of a name were made, and no rule has a
list of them.
"""

from __future__ import annotations

NAMES = """
Yum! Brands, Inc.
Toys "R" Us
AT&T Inc.
Procter & Gamble Co.
Lowe's Companies, Inc.
U.S. Bancorp
T. Rowe Price Group, Inc.
C.H. Robinson Worldwide, Inc.
1-800-Flowers.com, Inc.
Amazon.com, Inc.
lululemon athletica inc.
e.l.f. Beauty, Inc.
Wm. Wrigley Jr. Company
A. O. Smith Corporation
Booz Allen Hamilton Holding Corp.
The J.M. Smucker Company
PG&E Corporation
7-Eleven, Inc.
iRobot Corporation
thyssenkrupp North America, LLC
Bed Bath & Beyond Inc.
Skadden, Arps, Slate, Meagher & Flom LLP
Kohlberg Kravis Roberts & Co. L.P.
BJ's Wholesale Club
St. Jude Medical, Inc.
St. Joe Co.
99 Cents Only Stores
23andMe Holding Co.
X Corp.
Trust Co. of the West
Marks and Spencer Group plc
J Sainsbury plc
WH Smith PLC
M&G plc
BT Group
3i Group plc
B&M European Value Retail S.A.
Dr. Martens plc
easyJet plc
abrdn plc
Rolls-Royce Holdings plc
St. James's Place plc
William Morrison Supermarkets Limited
Tate & Lyle
Barclays Bank PLC
Müller GmbH & Co. KG
Bayerische Motoren Werke AG
E.ON SE
1&1 AG
Merck KGaA
SAP SE
Dr. Ing. h.c. F. Porsche AG
fischerwerke GmbH & Co. KG
Gebr. Heinemann SE
Robert Bosch GmbH
dm-drogerie markt GmbH + Co. KG
Aldi Einkauf SE & Co. oHG
L'Oréal S.A.
Crédit Agricole S.A.
Société Générale
L'Air Liquide
Moët Hennessy
d'Aucy S.A.S.
BNP Paribas
Saint-Gobain
Électricité de France
Enel S.p.A.
A2A S.p.A.
De' Longhi S.p.A.
Fratelli Branca S.r.l.
Assicurazioni Generali
Telefónica, S.A.
Banco Santander, S.A.
El Corte Inglés
Mercadona, S.A. de C.V.
Grupo Bimbo, S.A.B. de C.V.
Cía. de Minas Buenaventura S.A.A.
Koninklijke Philips N.V.
't Hooft Beheer B.V.
Van der Valk B.V.
ING Groep N.V.
ASML Holding
Aktiebolaget Volvo
H & M Hennes & Mauritz AB (publ)
A.P. Møller - Mærsk A/S
Novo Nordisk A/S
Equinor ASA
Kone Oyj
Ørsted A/S
CD Projekt S.A.
PKO Bank Polski
Škoda Auto a.s.
MOL Nyrt.
OMV Petrom S.A.
Zakłady Azotowe Sp. z o.o.
Agrofert, a.s.
OOO Romashka
PJSC Gazprom
Krka, d.d., Novo mesto
Toyota Motor Corporation
Nippon Steel Kabushiki Kaisha
Samsung Electronics Co., Ltd.
LG Corp.
Huawei Technologies Co., Ltd.
Tata Sons Pvt. Ltd.
Larsen & Toubro Ltd.
PT Bank Central Asia Tbk.
Sime Darby Berhad
Petronas Sdn. Bhd.
PTT Public Company Limited
DBS Group Holdings Ltd
Hyundai Motor Co
Alibaba.com Limited
58.com Inc.
51job, Inc.
ITC Limited
Türkiye İş Bankası A.Ş.
Public Power Corporation S.A.
Teva Pharmaceutical Industries Ltd.
Naspers Ltd
BHP Group Limited
Woolworths (Pty) Ltd
Petróleo Brasileiro S.A. - Petrobras
Magazine Luiza S/A
Royal Bank of Canada
Couche-Tard inc.
Nestlé S.A.
Swiss Re AG
voestalpine AG
Anheuser-Busch InBev SA/NV
JBS S.A.
9362-1234 Québec Inc.
407 ETR Concession Company Limited
Dr. Anna K. Lindqvist
J. R. R. Hartley III
Mary-Jane O'Neill, Esq.
Ludwig van der Berg
Mr. Tan Ah Kow
Lt. Col. Henry Adair (Ret.)
María del Carmen Ruiz y Ortega
Prof. Dr. Ernst Weiß
Hon. Ruth Baker
X. Li
""".strip().split("\n")
CLAUSES = (
    "{} shall indemnify the Purchaser against all losses that arise from any breach of warranty.",
    "The Borrower shall repay to {} all principal and accrued interest on the maturity date.",
    "Notices under this Agreement must be in writing and shall be sent by registered post to {}.",
    "Neither party may assign its rights without the consent of {}, which may not be delayed.",
    "The tenant covenants with {} that the premises will be kept in good repair and condition.",
    "4.2 Payment. The Licensee shall pay {} a royalty on net sales within a reasonable time.",
)
PLAIN = "Halden Marine Limited"


def pairs(*, in_capitals: bool = False) -> list[tuple[str, str, str]]:
    """Return each clause with each name, and with the plain one, by the name."""
    made = [(name, text.format(name), text.format(PLAIN)) for name in NAMES for text in CLAUSES]
    return [(n, a.upper(), b.upper()) for n, a, b in made] if in_capitals else made
