import type { usage as english } from "../en/usage.ts"

/** Usage and costs of an account. */
export const usage: Readonly<Record<keyof typeof english, string>> = {
  "nav.usage": "Matumizi",
  "usage.title": "Matumizi",
  "usage.lead": "Kile ambacho akaunti hii imetuma, na gharama yake. Siku ni za saa za UTC.",
  "usage.quotas": "Viwango",
  "usage.unused": "Kilichobaki",
  "usage.used": "{used} kati ya {limit} imetumika",
  "usage.unlimited": "{used} imetumika, hakuna kikomo",
  "usage.left": "imebaki {left} hadi {time}",
  "usage.runsOut": "Kwa kasi ya mwezi huu kitaisha tarehe {day}.",
  "usage.table": "Matumizi katika muda huu",
  "usage.untilHint": "Siku hii haihesabiwi.",
  "usage.wrong": "Muda huu haufai. Mwisho lazima uje baada ya mwanzo, na usizidi mwaka mmoja baadaye.",
  "usage.granularity": "Panga kwa",
  "usage.day": "Siku",
  "usage.week": "Wiki",
  "usage.month": "Miezi",
  "usage.date": "Mwanzo",
  "usage.metric": "Kipengele",
  "usage.count": "Idadi",
  "usage.cost": "Gharama (USD)",
  "usage.export": "Hamisha kama CSV",
  "usage.empty.title": "Hakuna matumizi katika muda huu",
  "usage.empty.text": "Jumbe huonekana hapa mara tu zinapokubaliwa.",
  "usage.metric.email": "Wapokeaji wa barua pepe",
  "usage.metric.email_sent": "Barua pepe zilizokabidhiwa seva",
  "usage.metric.sms": "SMS",
  "usage.metric.sms_segments": "Sehemu za SMS",
  "usage.metric.whatsapp": "Jumbe za WhatsApp",
  "usage.metric.otp": "Misimbo ya mara moja"
}
