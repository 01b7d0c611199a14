import type { recoveries as english } from "../en/recoveries.ts"

/** What a webhook missed, and how it is sent again. */
export const recoveries: Readonly<Record<keyof typeof english, string>> = {
  "webhooks.recover": "Verpasstes nachholen",
  "recover.title": "Verpasstes nachholen",
  "recover.lead":
    "Der Dienst sendet fehlgeschlagene und übersprungene Zustellungen erneut. Ereignisse behalten ihre IDs, deshalb erkennt Ihr Endpunkt, welche er schon hat.",
  "recover.choose": "Was nachzuholen ist",
  "recover.since": "Seit",
  "recover.until": "Bis",
  "recover.status": "Zustellungen, die",
  "recover.status.both": "fehlschlugen oder übersprungen wurden",
  "recover.status.failed": "fehlschlugen",
  "recover.status.skipped": "übersprungen wurden",
  "recover.count": "Zählen",
  "recover.wrong": "Dieser Zeitraum passt nicht. Der Beginn muss in der Vergangenheit und vor dem Ende liegen.",
  "recover.unknown": "Diesen Filter gibt es nicht. Eine Antwort ist ein Status wie 503, oder 5xx für alle dieser Art.",
  "recover.nothing": "In diesem Zeitraum wurde nichts verpasst.",
  "recover.events": "Zu sendende Ereignisse",
  "recover.atLeast": "mindestens {count}",
  "recover.order": "Reihenfolge",
  "recover.order.event": "das älteste Ereignis zuerst",
  "recover.pace": "Tempo",
  "recover.perSecond": "etwa {count} pro Sekunde",
  "recover.paceUnknown": "unbekannt, weil zuletzt keine Zustellung gelungen ist",
  "recover.end": "Voraussichtliches Ende",
  "recover.endUnknown": "unbekannt",
  "recover.notActive":
    "Dieser Webhook ist nicht aktiv, deshalb kann ihm nichts gesendet werden. Aktivieren Sie ihn zuerst und kommen Sie dann zurück.",
  "recover.start": "{count, plural, one {# Ereignis} other {# Ereignisse}} nachholen",
  "recover.started": "Das Nachholen hat begonnen. Diese Seite zeigt den Fortschritt.",
  "recover.stop": "Anhalten",
  "recover.stopped":
    "Das Nachholen wurde angehalten. Ereignisse, die schon in der Warteschlange standen, werden noch gesendet.",
  "recover.running": "Das Nachholen läuft",
  "recover.delivered": "Zugestellt",
  "recover.failed": "Fehlgeschlagen",
  "recover.left": "Übrig",
  "recover.past": "Frühere Durchläufe",
  "recover.pastCaption": "Frühere Durchläufe dieses Webhooks, die neuesten zuerst",
  "recover.created": "Begonnen",
  "recover.state": "Stand",
  "recover.is.running": "läuft",
  "recover.is.completed": "abgeschlossen",
  "recover.is.canceled": "angehalten"
}
