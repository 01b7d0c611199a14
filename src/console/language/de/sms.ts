import type { sms as english } from "../en/sms.ts"

/** The page of SMS: who carries texts, from which senders, at which prices. */
export const sms: Readonly<Record<keyof typeof english, string>> = {
  "nav.sms": "Absender und Preise",
  "smsPage.title": "SMS",
  "smsPage.lead": "Wer Ihre SMS überträgt, mit welchen Absendern und was jede kostet.",
  "smsPage.provider": "Anbieter",
  "smsPage.provider.sandbox": "die Sandbox: Keine SMS erreicht ein echtes Telefon",
  "smsPage.provider.smpp": "ein Mobilfunkanbieter über SMPP",
  "smsPage.provider.http": "ein Anbieter über HTTP",
  "smsPage.sandboxNote": "SMS gehen an die Sandbox. Die Einstellung SMS_PROVIDER nennt einen echten Anbieter.",
  "smsPage.about": "Wie SMS gesendet werden",
  "smsPage.senders": "Absender",
  "smsPage.anySender": "jeder Absender",
  "smsPage.firstSender": "Eine SMS ohne Absender verwendet den ersten.",
  "smsPage.prices": "Preise",
  "smsPage.pricesCaption": "Preis eines Segments nach Land",
  "smsPage.pricesText": "Eine SMS mit 160 Zeichen ist ein Segment. Andere Alphabete haben 70 Zeichen in einem Segment.",
  "smsPage.country": "Land",
  "smsPage.prefix": "Vorwahl",
  "smsPage.price": "Preis eines Segments",
  "smsPage.find": "Land oder Vorwahl",
  "smsPage.search": "Suchen",
  "smsPage.noPrice": "Kein Land hat diesen Namen oder diese Vorwahl. Eine SMS dorthin wird abgelehnt.",
  "smsPage.send": "SMS senden",
  "smsPage.messages": "SMS"
}
