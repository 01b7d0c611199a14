import type { suppressions as english } from "../en/suppressions.ts"

/** Addresses that get no mail. */
export const suppressions: Readonly<Record<keyof typeof english, string>> = {
  "nav.suppressions": "Izakumiriwe",
  "suppressions.title": "Aderesi zakumiriwe",
  "suppressions.lead": "Aderesi zitabona imeyili zivuye kuri iyi konti.",
  "suppressions.caption": "Aderesi zakumiriwe, inshya zibanza",
  "suppressions.new": "Gukumira aderesi",
  "suppressions.email": "Aderesi",
  "suppressions.reason": "Impamvu",
  "suppressions.filter": "Aderesi zakumiriwe hakurikijwe impamvu",
  "suppressions.all": "zose",
  "suppressions.q": "Aderesi yose",
  "suppressions.reason.unsubscribe": "yiyandukuje",
  "suppressions.reason.bounce": "imeyili yagaruwe",
  "suppressions.reason.complaint": "yatanze ikirego",
  "suppressions.reason.manual": "n’intoki",
  "suppressions.since": "Kuva",
  "suppressions.source": "Ubutumwa",
  "suppressions.empty.title": "Nta aderesi yakumiriwe",
  "suppressions.empty.text":
    "Ibyo ni byiza. Aderesi zigarura imeyili, zitanga ibirego cyangwa ziyandukuza zihita zigaragara hano.",
  "suppressions.empty.filtered": "Nta aderesi yakumiriwe kubera iyi mpamvu.",
  "suppressions.empty.address": "Iyi aderesi ntiyakumiriwe.",
  "suppressions.add.title": "Gukumira aderesi",
  "suppressions.add.hint": "Imeyili ziyijyaho zihita zihagarara, n’izari zaremewe mbere.",
  "suppressions.add.button": "Gukumira aderesi",
  "suppressions.added": "Iyi aderesi ntizongera kubona imeyili.",
  "suppressions.import": "Injiza",
  "suppressions.import.title": "Injiza aderesi",
  "suppressions.import.list": "Aderesi",
  "suppressions.import.hint":
    "Aderesi imwe kuri buri murongo. Muri dosiye ya CSV, inkingi ya mbere ni yo ibarwa. Aderesi zakumiriwe zigumana impamvu yazo.",
  "suppressions.import.wrong": "Nta cyinjijwe: {address} si aderesi ya imeyili.",
  "suppressions.import.left": "Aderesi {done} kuri {total} zinjijwe. Ubu urutonde rufite izisigaye.",
  "suppressions.imported": "Izo aderesi ntizikibona imeyili.",
  "suppressions.remove": "Kuraho",
  "suppressions.removeNamed": "Kuraho ikumira rya {email}",
  "suppressions.remove.title": "Urashaka gukuraho ikumira?",
  "suppressions.remove.text": "Imeyili nshya zizongera kujya kuri {email}. Ubutumwa bwakumiriwe buguma uko buri.",
  "suppressions.remove.bounce":
    "Imeyili y’iyi aderesi yaragaruwe. Niyongera kugarurwa, abakira bazagabanya icyizere bafitiye indangarubuga yawe.",
  "suppressions.remove.unsubscribe": "Uyu muntu yiyandukuje. Mwandikire gusa niba yarongeye kubisaba.",
  "suppressions.remove.button": "Kuraho ikumira",
  "suppressions.removed": "Ikumira ryakuweho."
}
