import type { batches as english } from "../en/batches.ts"

/** Batches: one text to many recipients. */
export const batches: Readonly<Record<keyof typeof english, string>> = {
  "nav.batches": "Sammelsendungen",
  "batches.title": "Sammelsendungen",
  "batches.caption": "Sammelsendungen dieses Kanals, die neuesten zuerst",
  "batches.channels": "Kanäle",
  "batches.id": "Sammelsendung",
  "batches.status": "Status",
  "batches.total": "Empfänger",
  "batches.failed": "Fehlgeschlagen",
  "batches.progress": "Fortschritt",
  "batches.created": "Erstellt",
  "batches.completed": "Abgeschlossen",
  "batches.empty.title": "Noch keine Sammelsendungen",
  "batches.empty.text":
    "Eine Sammelsendung schickt einen Text an bis zu 500 Empfänger, jeden mit eigenen Werten. Die Anleitung zeigt die Anfrage.",
  "batches.guide": "Anleitung lesen",
  "batch.status.scheduled": "geplant",
  "batch.status.queued": "in der Warteschlange",
  "batch.status.processing": "läuft",
  "batch.status.completed": "abgeschlossen",
  "batch.status.failed": "fehlgeschlagen",
  "batch.status.canceled": "abgebrochen",
  "batch.title": "Sammelsendung an {total, plural, one {# Empfänger} other {# Empfänger}}",
  "batch.counts": "Fortschritt",
  "batch.pace": "durchschnittlich {count} pro Minute",
  "batch.paceLeft": "{count} pro Minute. Restdauer bei diesem Tempo: {span}.",
  "batch.count.sent": "Gesendet",
  "batch.count.queued": "In der Warteschlange",
  "batch.count.failed": "Fehlgeschlagen",
  "batch.count.suppressed": "Gesperrt",
  "batch.count.canceled": "Abgebrochen",
  "batch.running": "{left, plural, one {# Nachricht steht noch aus.} other {# Nachrichten stehen noch aus.}}",
  "batch.fine": "Alle Nachrichten wurden gesendet.",
  "batch.fineButCanceled":
    "{canceled, plural, one {# Nachricht wurde} other {# Nachrichten wurden}} abgebrochen. Alle anderen wurden gesendet.",
  "batch.some":
    "{failed, plural, one {# von {total} Nachrichten hat} other {# von {total} Nachrichten haben}} den Empfänger nicht erreicht.",
  "batch.canceledAt":
    "Die Sammelsendung wurde abgebrochen. Vorher {sent, plural, one {wurde # Nachricht} other {wurden # Nachrichten}} gesendet.",
  "batch.failures": "Neueste Fehler nach Grund",
  "batch.count": "{count, plural, one {# Nachricht} other {# Nachrichten}}",
  "batch.example": "Beispiel",
  "batch.noReason": "kein Grund angegeben",
  "batch.noFailures": "Keine Nachricht ist fehlgeschlagen.",
  "batch.suppressedReason": "Die Adresse steht auf der Sperrliste.",
  "batch.messages": "Alle Nachrichten der Sammelsendung",
  "batch.facts": "Angaben",
  "batch.cancel": "Sammelsendung abbrechen",
  "batch.cancel.title": "Diese Sammelsendung abbrechen?",
  "batch.cancel.text":
    "{queued, plural, one {# Nachricht wartet und würde} other {# Nachrichten warten und würden}} nicht gesendet. Was gesendet wurde, bleibt gesendet. Das lässt sich nicht rückgängig machen.",
  "batch.cancel.done": "Die Sammelsendung wurde abgebrochen.",
  "batch.csv": "Empfänger als CSV",
  "batch.again": "Fehlgeschlagene erneut senden",
  "batch.again.title": "An die nicht erreichten Empfänger erneut senden?",
  "batch.again.text":
    "Eine neue Sammelsendung sendet ihnen denselben Inhalt. Empfänger auf der Sperrliste erhalten nichts. Das geht einmal je Sammelsendung.",
  "batch.again.done": "Die neue Sammelsendung wurde angenommen.",
  "batch.again.as": "Erneut gesendet als"
}
