import type { attention as english } from "../en/attention.ts"

/** What needs attention: a sentence and a button for each kind. */
export const attention: Readonly<Record<keyof typeof english, string>> = {
  "attention.since": "Tangu {time}.",
  "attention.webhook_unhealthy": "Webhook {name} ina hitilafu. Haipati matukio mapya.",
  "attention.webhook_unhealthy.button": "Fungua webhook",
  "attention.webhook_failing": "Uwasilishaji kwa webhook {name} unashindikana sasa. Matukio yake yanajaribiwa tena.",
  "attention.webhook_failing.button": "Fungua webhook",
  "attention.session_failed": "Kipindi cha WhatsApp {name} kimesimama. Oanisha simu yake tena.",
  "attention.session_failed.button": "Fungua kipindi",
  "attention.session_disconnected": "Kipindi cha WhatsApp {name} hakijaunganishwa.",
  "attention.session_disconnected.button": "Fungua kipindi",
  "attention.session_unpaired": "Kipindi cha WhatsApp {name} kinasubiri simu.",
  "attention.session_unpaired.button": "Onyesha msimbo wa QR",
  "attention.domain_lost": "Rekodi ya DNS ya kikoa cha kutuma {name} haipo au si sahihi.",
  "attention.domain_lost.button": "Fungua kikoa",
  "attention.domain_pending": "Kikoa cha kutuma {name} bado hakijathibitishwa.",
  "attention.domain_pending.button": "Fungua kikoa",
  "attention.bounces_high": "Barua pepe nyingi za saa 24 zilizopita zilirudishwa. Ondoa anwani zisizopo.",
  "attention.bounces_high.button": "Onyesha barua pepe zilizorudishwa",
  "attention.complaints_high": "Barua pepe nyingi za saa 24 zilizopita zilitiwa alama ya barua taka.",
  "attention.complaints_high.button": "Onyesha malalamiko",
  "attention.quota_reached": "Kiwango cha mwezi kimetumika chote: {name}.",
  "attention.quota_reached.button": "Onyesha matumizi",
  "attention.quota_near": "Zaidi ya asilimia 80 ya kiwango imetumika: {name}.",
  "attention.quota_near.button": "Onyesha matumizi",
  "attention.trial_ending": "Kipindi cha kujaribu kinaisha ndani ya saa 24.",
  "attention.trial_ending.button": "Onyesha matumizi",
  "attention.relay_away":
    "Seva ya kusambaza barua pepe haipatikani. Hakuna kinachopotea: barua pepe zinasubiri na zitatumwa itakaporudi.",
  "attention.relay_away.button": "Onyesha jumbe zinazosubiri",
  "attention.carrier_away":
    "Kampuni ya simu haipatikani. Hakuna kinachopotea: SMS zinasubiri na zitatumwa itakaporudi.",
  "attention.carrier_away.button": "Onyesha jumbe zinazosubiri",
  "attention.queue_late":
    "Jumbe za {name} zinasubiri kwa zaidi ya dakika moja. Huenda seva ya kusambaza barua pepe au kampuni ya simu haipatikani.",
  "attention.queue_late.whatsapp":
    "Jumbe za WhatsApp zinasubiri kwa zaidi ya dakika moja. Huenda kipindi chake hakijaunganishwa, au kimefikia kikomo chake.",
  "attention.queue_late.button": "Onyesha jumbe zinazosubiri",
  "attention.codes_late":
    "Misimbo ya mara moja ya {name} inasubiri kwa zaidi ya sekunde 10. Huenda seva ya kusambaza barua pepe au kampuni ya simu haipatikani.",
  "attention.codes_late.whatsapp":
    "Misimbo ya mara moja ya WhatsApp inasubiri kwa zaidi ya sekunde 10. Huenda kipindi chake hakijaunganishwa, au kimefikia kikomo chake.",
  "attention.codes_late.button": "Onyesha misimbo",
  "attention.codes_blocked": "Misimbo kwa nambari zinazoanza na {name} imezuiwa kwa sababu huenda ni ulaghai.",
  "attention.codes_blocked.button": "Onyesha nambari zilizozuiwa",
  "attention.key_expiring": "Ufunguo wa API {name} unaisha muda ndani ya siku saba.",
  "attention.key_expiring.button": "Fungua funguo",
  "attention.key_unused": "Ufunguo wa API {name} haujatumika kwa siku 90.",
  "attention.key_unused.button": "Fungua funguo",
  "attention.no_second_factor": "Mmiliki anaingia kwa nenosiri peke yake.",
  "attention.no_second_factor.button": "Ongeza kithibitisho cha pili"
}
