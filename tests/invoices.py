"""Invoices of one template, of which each differs in a single fact."""

INVOICE = """Northern Office Supplies Ltd
Invoice {number}
Date: {date}
Bill to: {party}

We thank you for your order. Please pay the total of EUR {total} within thirty days of the date of
this invoice to the account given below, and state the number of the invoice with your payment.
Goods remain the property of the seller until they are paid in full. Claims for damage in transit
must be made within a week of delivery, in writing, with the packing list enclosed.
"""
PARTIES = ["Acme Ltd", "Beta GmbH", "Jansen", "Rossi & Figli", "O'Neill Brothers", "Dupont SA"]


def invoices(count: int) -> list[str]:
    """Return invoices of which each differs from the first in its number, its date or its party."""
    facts = {
        "number": "2024-00000",
        "date": "5 May 2024",
        "party": "Muster AG",
        "total": "1,250.00",
    }
    texts = [INVOICE.format(**facts)]
    for place in range(1, count):
        changed = {
            "number": f"2024-{place:05}",
            "date": f"{place % 28 + 1} {['March', 'June', 'July'][place % 3]} {2000 + place % 20}",
            "party": f"{PARTIES[place % 6]} {chr(65 + place // 6 % 26)}{chr(97 + place % 26)}",
        }
        name = ("number", "date", "party")[place % 3]
        texts.append(INVOICE.format(**{**facts, name: changed[name]}))
    return texts
