import type { suppressions as english } from "../en/suppressions.ts"

/** Addresses that get no mail. */
export const suppressions: Readonly<Record<keyof typeof english, string>> = {
  "nav.suppressions": "Gesperrte Adressen",
  "suppressions.title": "Gesperrte Adressen",
  "suppressions.lead": "Adressen, die keine E-Mails von diesem Konto erhalten.",
  "suppressions.caption": "Gesperrte Adressen, die neuesten zuerst",
  "suppressions.new": "Adresse sperren",
  "suppressions.email": "Adresse",
  "suppressions.reason": "Grund",
  "suppressions.filter": "Sperren nach Grund",
  "suppressions.all": "alle",
  "suppressions.q": "Die ganze Adresse",
  "suppressions.reason.unsubscribe": "abgemeldet",
  "suppressions.reason.bounce": "unzustellbar",
  "suppressions.reason.complaint": "Spam gemeldet",
  "suppressions.reason.manual": "von Hand",
  "suppressions.since": "Seit",
  "suppressions.source": "Nachricht",
  "suppressions.empty.title": "Keine Adresse ist gesperrt",
  "suppressions.empty.text":
    "Das ist gut. Adressen, die unzustellbar sind, Spam melden oder sich abmelden, erscheinen hier von selbst.",
  "suppressions.empty.filtered": "Keine Adresse ist aus diesem Grund gesperrt.",
  "suppressions.empty.address": "Diese Adresse ist nicht gesperrt.",
  "suppressions.add.title": "Adresse sperren",
  "suppressions.add.hint": "E-Mails an sie werden sofort gestoppt, auch solche, die schon angenommen wurden.",
  "suppressions.add.button": "Adresse sperren",
  "suppressions.added": "Die Adresse erhält keine E-Mails mehr.",
  "suppressions.import": "Importieren",
  "suppressions.import.title": "Adressen importieren",
  "suppressions.import.list": "Adressen",
  "suppressions.import.hint":
    "Eine Adresse pro Zeile. Bei einer CSV-Datei zählt die erste Spalte. Gesperrte Adressen behalten ihren Grund.",
  "suppressions.import.wrong": "Nichts wurde importiert: {address} ist keine E-Mail-Adresse.",
  "suppressions.import.left": "{done} von {total} Adressen wurden importiert. Die Liste enthält jetzt die übrigen.",
  "suppressions.imported": "Die Adressen erhalten keine E-Mails mehr.",
  "suppressions.remove": "Entfernen",
  "suppressions.removeNamed": "Sperre von {email} entfernen",
  "suppressions.remove.title": "Die Sperre entfernen?",
  "suppressions.remove.text": "Neue E-Mails gehen wieder an {email}. Nachrichten, die gesperrt wurden, bleiben es.",
  "suppressions.remove.bounce":
    "Diese Adresse war unzustellbar. Ist sie es noch einmal, vertrauen die Zielserver Ihrer Domain weniger.",
  "suppressions.remove.unsubscribe":
    "Diese Person hat sich abgemeldet. Schreiben Sie ihr nur, wenn sie erneut darum gebeten hat.",
  "suppressions.remove.button": "Sperre entfernen",
  "suppressions.removed": "Die Sperre wurde entfernt."
}
