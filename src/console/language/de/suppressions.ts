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
  "suppressions.add.title": "Adresse sperren",
  "suppressions.add.hint": "E-Mails an sie werden sofort gestoppt, auch solche, die schon angenommen wurden.",
  "suppressions.add.button": "Adresse sperren",
  "suppressions.added": "Die Adresse erhält keine E-Mails mehr.",
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
