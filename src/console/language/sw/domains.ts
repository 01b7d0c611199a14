import type { domains as english } from "../en/domains.ts"

/** Sending domains. */
export const domains: Readonly<Record<keyof typeof english, string>> = {
  "nav.domains": "Vikoa",
  "domains.title": "Vikoa vya kutuma",
  "domains.lead": "Barua pepe kutoka kikoa chako zinahitaji rekodi katika DNS yake. Huduma huzikagua.",
  "domains.caption": "Vikoa vya kutuma vya akaunti hii",
  "domains.new": "Ongeza kikoa",
  "domains.domain": "Kikoa",
  "domains.domainHint": "Kikoa unachomiliki, kama vile example.com. Kikoa kidogo huongezwa peke yake.",
  "domains.status": "Hali",
  "domains.status.pending": "hakijathibitishwa",
  "domains.status.verified": "kimethibitishwa",
  "domains.warnings": "Ya kuboresha",
  "domains.warningCount": "{count, plural, one {onyo #} other {maonyo #}}",
  "domains.checked": "Ukaguzi wa mwisho",
  "domains.created": "Kiliongezwa",
  "domains.empty.title": "Bado hakuna kikoa cha kutuma",
  "domains.empty.text": "Hadi uongeze kimoja, barua pepe hutoka kwenye anwani ya huduma hii.",
  "domains.add.title": "Ongeza kikoa cha kutuma",
  "domains.add.button": "Ongeza kikoa",
  "domains.added": "Kikoa kimeongezwa. Chapisha rekodi zake, kisha ukikague.",
  "domains.state.pending": "Barua pepe kutoka kikoa hiki hukataliwa hadi DKIM na SPF zithibitishwe.",
  "domains.state.verified": "Unaweza kutuma kutoka kikoa hiki.",
  "domains.check": "Kagua sasa",
  "domains.check.done": "Rekodi zimekaguliwa.",
  "domains.records": "Rekodi za DNS",
  "domains.required": "ya lazima",
  "domains.advised": "inashauriwa",
  "domains.record.unchecked": "bado haijakaguliwa",
  "domains.record.verified": "imethibitishwa",
  "domains.record.missing": "haipo",
  "domains.record.mismatch": "thamani tofauti",
  "domains.record.conflict": "rekodi ni nyingi mno",
  "domains.record.temporary_error": "hakuna jibu kutoka DNS",
  "domains.record.type": "Aina",
  "domains.record.name": "Jina",
  "domains.record.short": "Jina, kwa watoa huduma wa DNS wanaoongeza kikoa",
  "domains.record.value": "Thamani",
  "domains.record.found": "Kilichopo kwenye DNS",
  "domains.record.nothing": "hakuna rekodi kama hiyo",
  "domains.purpose.DKIM": "DKIM",
  "domains.purpose.SPF": "SPF",
  "domains.purpose.DMARC": "DMARC",
  "domains.purpose.MX": "MX",
  "domains.purposeText.DKIM": "Wapokeaji huitumia kukagua kwamba barua pepe ni yako.",
  "domains.purposeText.SPF": "Huruhusu huduma hii kutuma kwa niaba ya kikoa chako.",
  "domains.purposeText.DMARC":
    "Hueleza wapokeaji wafanye nini na barua pepe za kughushi. Watoa huduma wakubwa huitaka.",
  "domains.purposeText.MX":
    "Huelekeza majibu kwenye seva ya barua pepe. Usiiweke ikiwa kikoa chako hupokea barua pepe kwingine.",
  "verdict.spf.missing": "Hakuna rekodi ya SPF. Chapisha hii. Inaweza kuchukua dakika kadhaa kuonekana.",
  "verdict.spf.several": "Kuna rekodi {count} za SPF, na hilo huzibatilisha zote. Bakiza moja tu: {record}",
  "verdict.spf.add":
    "Rekodi ya SPF haijumuishi seva hii. Usiongeze rekodi ya pili ya SPF. Badilisha iliyopo iwe: {record}",
  "verdict.spf.target": "{name}, lengo la redirect=, ina rekodi {count} za SPF. Bakiza moja tu.",
  "verdict.spf.redirect":
    "Rekodi hii na ile ya {name} hazijumuishi seva hii. Usiongeze rekodi ya pili ya SPF. Badilisha iliyopo iwe: {record}",
  "verdict.dkim.missing": "Hakuna rekodi ya TXT. Chapisha hii. Inaweza kuchukua dakika kadhaa kuonekana.",
  "verdict.dkim.none": "Kuna rekodi ya TXT, lakini hakuna ufunguo wa DKIM. Chapisha thamani ya rekodi hii kama ilivyo.",
  "verdict.dkim.several": "Kuna funguo {count} za DKIM. Ondoa zote isipokuwa wenye thamani hii.",
  "verdict.dkim.tags":
    "Rekodi si orodha ya DKIM ya majina na thamani. Chapisha thamani ya rekodi hii kama ilivyo, bila alama za kunukuu.",
  "verdict.dkim.version": "Toleo lake si DKIM1. Chapisha thamani ya rekodi hii kama ilivyo.",
  "verdict.dkim.type": "Aina ya ufunguo wake si rsa. Chapisha thamani ya rekodi hii kama ilivyo.",
  "verdict.dkim.sha256": "Hairuhusu SHA-256. Chapisha thamani ya rekodi hii kama ilivyo.",
  "verdict.dkim.email": "Hairuhusu ufunguo kwa barua pepe. Chapisha thamani ya rekodi hii kama ilivyo.",
  "verdict.dkim.revoked": "Ufunguo wake ni mtupu, yaani umebatilishwa. Chapisha thamani ya rekodi hii kama ilivyo.",
  "verdict.dkim.base64":
    "Ufunguo wake si base64 halali. Chapisha thamani ya rekodi hii kama ilivyo, bila alama za kunukuu wala mistari mipya.",
  "verdict.dkim.other": "Ufunguo wake si wa kikoa hiki, au ulikatwa. Chapisha thamani ya rekodi hii kama ilivyo.",
  "verdict.dmarc.missing":
    "Hakuna rekodi ya DMARC. Si ya lazima, lakini Gmail na Yahoo huitaka kwa wanaotuma kwa wingi. Chapisha hii.",
  "verdict.dmarc.policy": "Rekodi ya DMARC haina sera halali. Weka p=none, au chapisha rekodi hii.",
  "verdict.dmarc.several": "Kuna rekodi {count} za DMARC, na hilo huzibatilisha zote. Bakiza moja tu.",
  "verdict.mx.missing":
    "Hakuna rekodi ya MX. Si ya lazima. Ichapishe ikiwa tu huduma hii inapaswa kupokea majibu na barua pepe zilizorudi.",
  "verdict.mx.address": "Rekodi ya MX inataja {host}, ambayo haina anwani. Ipe rekodi ya A au AAAA.",
  "verdict.mx.none":
    "Rekodi ya MX inasema kikoa hiki hakipokei barua pepe. Si ya lazima. Ichapishe ikiwa tu huduma hii inapaswa kupokea majibu na barua pepe zilizorudi.",
  "verdict.mx.elsewhere":
    "Barua pepe za kikoa hiki huenda kwenye seva nyingine, na hilo ni sawa. Rekodi si ya lazima. Ichapishe ikiwa tu huduma hii inapaswa kupokea majibu na barua pepe zilizorudi.",
  "verdict.unanswered":
    "DNS haikujibu. Hilo halisemi chochote kuhusu rekodi. Kagua tena baada ya dakika chache. ({reason})",
  "domains.zone": "Rekodi zote kama faili ya eneo la DNS",
  "domains.delete": "Futa",
  "domains.delete.title": "Ungependa kufuta {domain}?",
  "domains.delete.text":
    "Baada ya hapo, barua pepe kutoka kikoa hiki hukataliwa, na ufunguo wake hufutwa. Kukiongeza tena hutengeneza ufunguo mpya, wenye rekodi mpya ya kuchapisha. Hili haliwezi kutenduliwa.",
  "domains.delete.button": "Futa kikoa",
  "domains.delete.done": "Kikoa kimefutwa."
}
