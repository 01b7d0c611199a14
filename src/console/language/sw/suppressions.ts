import type { suppressions as english } from "../en/suppressions.ts"

/** Addresses that get no mail. */
export const suppressions: Readonly<Record<keyof typeof english, string>> = {
  "nav.suppressions": "Vizuizi",
  "suppressions.title": "Vizuizi",
  "suppressions.lead": "Anwani zisizopata barua pepe kutoka akaunti hii.",
  "suppressions.caption": "Anwani zilizozuiwa, mpya kwanza",
  "suppressions.new": "Zuia anwani",
  "suppressions.email": "Anwani",
  "suppressions.reason": "Sababu",
  "suppressions.filter": "Vizuizi kulingana na sababu",
  "suppressions.all": "zote",
  "suppressions.q": "Anwani nzima",
  "suppressions.reason.unsubscribe": "alijiondoa",
  "suppressions.reason.bounce": "ilirudishwa",
  "suppressions.reason.complaint": "alilalamika",
  "suppressions.reason.manual": "kwa mkono",
  "suppressions.since": "Tangu",
  "suppressions.source": "Ujumbe",
  "suppressions.empty.title": "Hakuna anwani iliyozuiwa",
  "suppressions.empty.text":
    "Hilo ni jambo zuri. Anwani zinazorudisha barua pepe, zinazolalamika au zinazojiondoa huonekana hapa zenyewe.",
  "suppressions.empty.filtered": "Hakuna anwani iliyozuiwa kwa sababu hii.",
  "suppressions.empty.address": "Anwani hii haijazuiwa.",
  "suppressions.add.title": "Zuia anwani",
  "suppressions.add.hint": "Barua pepe kwa anwani hii husimama papo hapo, hata zilizokubaliwa awali.",
  "suppressions.add.button": "Zuia anwani",
  "suppressions.added": "Anwani hii haitapata tena barua pepe.",
  "suppressions.import": "Ingiza",
  "suppressions.import.title": "Ingiza anwani",
  "suppressions.import.list": "Anwani",
  "suppressions.import.hint":
    "Anwani moja kwenye kila mstari. Katika faili ya CSV, safu ya kwanza ndiyo inayohesabiwa. Anwani zilizozuiwa hubaki na sababu yake.",
  "suppressions.import.wrong": "Hakuna kilichoingizwa: {address} si anwani ya barua pepe.",
  "suppressions.import.left": "Anwani {done} kati ya {total} zimeingizwa. Orodha sasa ina anwani zilizobaki.",
  "suppressions.imported": "Anwani hizo hazipati barua pepe tena.",
  "suppressions.remove": "Ondoa",
  "suppressions.removeNamed": "Ondoa kizuizi cha {email}",
  "suppressions.remove.title": "Ungependa kuondoa kizuizi?",
  "suppressions.remove.text": "Barua pepe mpya zitatumwa tena kwa {email}. Jumbe zilizozuiwa hubaki hivyo.",
  "suppressions.remove.bounce":
    "Barua pepe ya anwani hii ilirudishwa. Ikirudishwa tena, imani ya wapokeaji kwa kikoa chako itapungua.",
  "suppressions.remove.unsubscribe": "Mtu huyu alijiondoa. Mtumie barua pepe tu ikiwa ameomba tena.",
  "suppressions.remove.button": "Ondoa kizuizi",
  "suppressions.removed": "Kizuizi kimeondolewa."
}
