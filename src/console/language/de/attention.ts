import type { attention as english } from "../en/attention.ts"

/** What needs attention: a sentence and a button for each kind. */
export const attention: Readonly<Record<keyof typeof english, string>> = {
  "attention.since": "Seit {time}.",
  "attention.webhook_unhealthy": "Der Webhook {name} ist gestört. Er erhält keine neuen Ereignisse.",
  "attention.webhook_unhealthy.button": "Webhook öffnen",
  "attention.webhook_failing":
    "Zustellungen an den Webhook {name} schlagen gerade fehl. Die Ereignisse werden erneut gesendet.",
  "attention.webhook_failing.button": "Webhook öffnen",
  "attention.session_failed": "Die WhatsApp-Sitzung {name} wurde angehalten. Koppeln Sie ihr Telefon erneut.",
  "attention.session_failed.button": "Sitzung öffnen",
  "attention.session_disconnected": "Die WhatsApp-Sitzung {name} ist getrennt.",
  "attention.session_disconnected.button": "Sitzung öffnen",
  "attention.session_unpaired": "Die WhatsApp-Sitzung {name} wartet auf ein Telefon.",
  "attention.session_unpaired.button": "QR-Code anzeigen",
  "attention.domain_lost": "Ein DNS-Eintrag der Absenderdomain {name} fehlt oder ist falsch.",
  "attention.domain_lost.button": "Domain öffnen",
  "attention.domain_pending": "Die Absenderdomain {name} ist noch nicht verifiziert.",
  "attention.domain_pending.button": "Domain öffnen",
  "attention.bounces_high":
    "Viele E-Mails der letzten 24 Stunden waren unzustellbar. Entfernen Sie Adressen, die es nicht gibt.",
  "attention.bounces_high.button": "Unzustellbare E-Mails anzeigen",
  "attention.complaints_high": "Viele E-Mails der letzten 24 Stunden wurden als Spam gemeldet.",
  "attention.complaints_high.button": "Meldungen anzeigen",
  "attention.quota_reached": "Das Kontingent des Monats ist aufgebraucht: {name}.",
  "attention.quota_reached.button": "Verbrauch anzeigen",
  "attention.quota_near": "Mehr als 80 Prozent eines Kontingents sind verbraucht: {name}.",
  "attention.quota_near.button": "Verbrauch anzeigen",
  "attention.trial_ending": "Die Testphase endet innerhalb von 24 Stunden.",
  "attention.trial_ending.button": "Verbrauch anzeigen",
  "attention.relay_away":
    "Das Mail-Relay ist nicht erreichbar. Nichts geht verloren: E-Mails warten und werden gesendet, sobald es wieder da ist.",
  "attention.relay_away.button": "Wartende Nachrichten anzeigen",
  "attention.carrier_away":
    "Der Mobilfunkanbieter ist nicht erreichbar. Nichts geht verloren: SMS warten und werden gesendet, sobald er wieder da ist.",
  "attention.carrier_away.button": "Wartende Nachrichten anzeigen",
  "attention.queue_late":
    "Nachrichten per {name} warten seit mehr als einer Minute. Das Mail-Relay oder der Mobilfunkanbieter ist vielleicht nicht erreichbar.",
  "attention.queue_late.whatsapp":
    "WhatsApp-Nachrichten warten seit mehr als einer Minute. Ihre Sitzung ist vielleicht getrennt oder hat ihr Limit erreicht.",
  "attention.queue_late.button": "Wartende Nachrichten anzeigen",
  "attention.codes_late":
    "Einmalcodes per {name} warten seit mehr als 10 Sekunden. Das Mail-Relay oder der Mobilfunkanbieter ist vielleicht nicht erreichbar.",
  "attention.codes_late.whatsapp":
    "Einmalcodes per WhatsApp warten seit mehr als 10 Sekunden. Ihre Sitzung ist vielleicht getrennt oder hat ihr Limit erreicht.",
  "attention.codes_late.button": "Codes anzeigen",
  "attention.codes_blocked":
    "Codes an Nummern, die mit {name} beginnen, werden als wahrscheinlicher Betrug zurückgehalten.",
  "attention.codes_blocked.button": "Gesperrte Nummern anzeigen",
  "attention.key_expiring": "Der API-Schlüssel {name} läuft innerhalb von sieben Tagen ab.",
  "attention.key_expiring.button": "Schlüssel öffnen",
  "attention.key_unused": "Der API-Schlüssel {name} wurde seit 90 Tagen nicht verwendet.",
  "attention.key_unused.button": "Schlüssel öffnen",
  "attention.no_second_factor": "Der Inhaber meldet sich nur mit einem Passwort an.",
  "attention.no_second_factor.button": "Zweiten Faktor hinzufügen"
}
