import type { usage as english } from "../en/usage.ts"

/** Usage and costs of an account. */
export const usage: Readonly<Record<keyof typeof english, string>> = {
  "nav.usage": "Verbrauch",
  "usage.title": "Verbrauch",
  "usage.lead": "Was dieses Konto gesendet hat und was es kostet. Tage gelten in UTC.",
  "usage.quotas": "Kontingente",
  "usage.unused": "Übrig",
  "usage.used": "{used} von {limit} verbraucht",
  "usage.unlimited": "{used} verbraucht, unbegrenzt",
  "usage.left": "{left} übrig bis {time}",
  "usage.runsOut": "Im Tempo dieses Monats ist es am {day} aufgebraucht.",
  "usage.table": "Verbrauch in diesem Zeitraum",
  "usage.untilHint": "Dieser Tag zählt nicht mit.",
  "usage.wrong": "Dieser Zeitraum passt nicht. Das Ende muss nach dem Beginn liegen, höchstens ein Jahr später.",
  "usage.granularity": "Gruppieren nach",
  "usage.day": "Tagen",
  "usage.week": "Wochen",
  "usage.month": "Monaten",
  "usage.date": "Beginn",
  "usage.metric": "Was",
  "usage.count": "Anzahl",
  "usage.cost": "Kosten (USD)",
  "usage.export": "Als CSV exportieren",
  "usage.empty.title": "Kein Verbrauch in diesem Zeitraum",
  "usage.empty.text": "Nachrichten erscheinen hier, sobald sie angenommen sind.",
  "usage.metric.email": "E-Mail-Empfänger",
  "usage.metric.email_sent": "Übergebene E-Mails",
  "usage.metric.sms": "SMS",
  "usage.metric.sms_segments": "SMS-Segmente",
  "usage.metric.whatsapp": "WhatsApp-Nachrichten",
  "usage.metric.otp": "Einmalcodes"
}
