import type { sms as english } from "../en/sms.ts"

/** The page of SMS: who carries texts, from which senders, at which prices. */
export const sms: Readonly<Record<keyof typeof english, string>> = {
  "nav.sms": "Abohereza n’ibiciro",
  "smsPage.title": "SMS",
  "smsPage.lead": "Utwara SMS zawe, abo ziturukaho, n’igiciro cya buri imwe.",
  "smsPage.provider": "Utanga serivisi",
  "smsPage.provider.sandbox": "urubuga rw’isuzuma: nta SMS igera kuri telefone nyakuri",
  "smsPage.provider.smpp": "sosiyete y’itumanaho binyuze kuri SMPP",
  "smsPage.provider.http": "utanga serivisi binyuze kuri HTTP",
  "smsPage.sandboxNote":
    "Urubuga rw’isuzuma ni rwo rwakira SMS. Igenamiterere SMS_PROVIDER rivuga utanga serivisi nyakuri.",
  "smsPage.testNote": "Ubu ni uburyo bw’isuzuma: SMS zakirwa n’urubuga rw’isuzuma.",
  "smsPage.link": "Ihuriro na sosiyete y’itumanaho",
  "smsPage.link.status": "Imiterere",
  "smsPage.link.bound": "riri ku murongo",
  "smsPage.link.unbound": "ntiriri ku murongo",
  "smsPage.link.paused": "ryahagaritswe",
  "smsPage.link.silent": "Mashini ifite ihuriro ntiyasubije. Ongera ufungure urupapuro.",
  "smsPage.link.window": "SMS zitegereje igisubizo, umubare ntarengwa",
  "smsPage.link.rate": "SMS ku isegonda",
  "smsPage.link.lastError": "Ikosa riheruka",
  "smsPage.about": "Uko SMS zoherezwa",
  "smsPage.senders": "Abohereza",
  "smsPage.anySender": "uwohereza uwo ari we wese",
  "smsPage.firstSender": "SMS idafite uwohereza ikoresha uwa mbere.",
  "smsPage.prices": "Ibiciro",
  "smsPage.pricesCaption": "Igiciro cy’igice kimwe hakurikijwe igihugu",
  "smsPage.pricesText": "SMS y’inyuguti 160 ni igice kimwe. Izindi nyuguti zigira 70 mu gice.",
  "smsPage.country": "Igihugu",
  "smsPage.prefix": "Intangiriro ya nimero",
  "smsPage.price": "Igiciro cy’igice",
  "smsPage.find": "Igihugu cyangwa intangiriro ya nimero",
  "smsPage.search": "Shakisha",
  "smsPage.noPrice": "Nta gihugu gifite iri zina cyangwa iyi ntangiriro. SMS ijyayo irangwa.",
  "smsPage.send": "Ohereza SMS",
  "smsPage.messages": "SMS zose"
}
