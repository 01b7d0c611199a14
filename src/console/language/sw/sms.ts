import type { sms as english } from "../en/sms.ts"

/** The page of SMS: who carries texts, from which senders, at which prices. */
export const sms: Readonly<Record<keyof typeof english, string>> = {
  "nav.sms": "Watumaji na bei",
  "smsPage.title": "SMS",
  "smsPage.lead": "Nani husafirisha jumbe zako fupi, kutoka kwa watumaji gani, na kila mmoja hugharimu kiasi gani.",
  "smsPage.provider": "Mtoa huduma",
  "smsPage.provider.sandbox": "uwanja wa majaribio: hakuna ujumbe mfupi unaofikia simu halisi",
  "smsPage.provider.smpp": "kampuni ya simu kupitia SMPP",
  "smsPage.provider.http": "mtoa huduma kupitia HTTP",
  "smsPage.sandboxNote":
    "Jumbe fupi huenda kwenye uwanja wa majaribio. Mpangilio SMS_PROVIDER hutaja mtoa huduma halisi.",
  "smsPage.testNote": "Katika hali ya majaribio, SMS huenda kwenye uwanja wa majaribio.",
  "smsPage.link": "Muunganisho na kampuni ya simu",
  "smsPage.link.status": "Hali",
  "smsPage.link.bound": "umeunganishwa",
  "smsPage.link.unbound": "haujaunganishwa",
  "smsPage.link.paused": "umesitishwa",
  "smsPage.link.silent": "Nodi inayoshikilia muunganisho haikujibu. Pakia ukurasa tena.",
  "smsPage.link.window": "SMS zinazosubiri jibu, nyingi zaidi",
  "smsPage.link.rate": "SMS kwa sekunde",
  "smsPage.link.lastError": "Hitilafu ya mwisho",
  "smsPage.about": "Jinsi jumbe fupi zinavyotumwa",
  "smsPage.senders": "Watumaji",
  "smsPage.anySender": "mtumaji yeyote",
  "smsPage.firstSender": "Ujumbe mfupi usio na mtumaji hutumia wa kwanza.",
  "smsPage.prices": "Bei",
  "smsPage.pricesCaption": "Bei ya sehemu moja kwa nchi",
  "smsPage.pricesText": "Ujumbe mfupi wa herufi 160 ni sehemu moja. Alfabeti nyingine zina herufi 70 kwa sehemu.",
  "smsPage.country": "Nchi",
  "smsPage.prefix": "Kiambishi",
  "smsPage.price": "Bei ya sehemu",
  "smsPage.find": "Nchi au kiambishi",
  "smsPage.search": "Tafuta",
  "smsPage.noPrice": "Hakuna nchi yenye jina au kiambishi hiki. Ujumbe mfupi wa kwenda huko hukataliwa.",
  "smsPage.send": "Tuma ujumbe mfupi",
  "smsPage.messages": "Jumbe fupi"
}
