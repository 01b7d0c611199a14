import type { domains as english } from "../en/domains.ts"

/** Sending domains. */
export const domains: Readonly<Record<keyof typeof english, string>> = {
  "nav.domains": "Indangarubuga",
  "domains.title": "Indangarubuga zo kohereza",
  "domains.lead": "Imeyili ziva ku ndangarubuga yawe zikenera inyandiko muri DNS yayo. Serivisi irazigenzura.",
  "domains.caption": "Indangarubuga zo kohereza z’iyi konti",
  "domains.new": "Ongeraho indangarubuga",
  "domains.domain": "Indangarubuga",
  "domains.domainHint": "Indangarubuga yawe bwite, nka example.com. Indangarubuga iyishamikiyeho yongerwaho ukwayo.",
  "domains.status": "Imiterere",
  "domains.status.pending": "ntiremezwa",
  "domains.status.verified": "yemejwe",
  "domains.warnings": "Ibyo kunoza",
  "domains.warningCount": "{count, plural, =1 {umuburo #} other {imiburo #}}",
  "domains.checked": "Igenzura riheruka",
  "domains.created": "Igihe yongeweho",
  "domains.empty.title": "Nta ndangarubuga yo kohereza iraboneka",
  "domains.empty.text": "Mu gihe utarayongeraho, imeyili ziva kuri aderesi y’iyi serivisi.",
  "domains.add.title": "Ongeraho indangarubuga yo kohereza",
  "domains.add.button": "Ongeraho indangarubuga",
  "domains.added": "Indangarubuga yongeweho. Tangaza inyandiko zayo, hanyuma uyigenzure.",
  "domains.state.pending": "Imeyili ziva kuri iyi ndangarubuga zirangwa kugeza igihe DKIM na SPF byemejwe.",
  "domains.state.verified": "Ushobora kohereza uvuye kuri iyi ndangarubuga.",
  "domains.check": "Genzura nonaha",
  "domains.check.done": "Inyandiko zagenzuwe.",
  "domains.records": "Inyandiko za DNS",
  "domains.required": "irakenewe",
  "domains.advised": "byaba byiza kuyishyiraho",
  "domains.record.unchecked": "ntiragenzurwa",
  "domains.record.verified": "yemejwe",
  "domains.record.missing": "ntihari",
  "domains.record.mismatch": "agaciro katandukanye",
  "domains.record.conflict": "inyandiko ni nyinshi cyane",
  "domains.record.temporary_error": "DNS ntiyasubije",
  "domains.record.type": "Ubwoko",
  "domains.record.name": "Izina",
  "domains.record.short": "Izina, ku batanga DNS bongeraho indangarubuga",
  "domains.record.value": "Agaciro",
  "domains.record.found": "Ibiri muri DNS",
  "domains.record.nothing": "nta nyandiko nk’iyo ihari",
  "domains.purpose.DKIM": "DKIM",
  "domains.purpose.SPF": "SPF",
  "domains.purpose.DMARC": "DMARC",
  "domains.purpose.MX": "MX",
  "domains.purposeText.DKIM": "Abakira bayigenzuraho ko imeyili ari iyawe.",
  "domains.purposeText.SPF": "Yemerera iyi serivisi kohereza mu izina ry’indangarubuga yawe.",
  "domains.purposeText.DMARC":
    "Ibwira abakira uko bagenza imeyili z’impimbano. Abatanga serivisi ya imeyili bakomeye barayisaba.",
  "domains.purposeText.MX":
    "Yerekeza ibisubizo kuri seriveri ya imeyili. Yireke niba indangarubuga yawe yakirira imeyili ahandi.",
  "verdict.spf.missing": "Nta nyandiko ya SPF ihari. Tangaza iyi. Bishobora gufata iminota mike kugira ngo iboneke.",
  "verdict.spf.several": "Hari inyandiko {count} za SPF, bigatuma zose zita agaciro. Sigaza imwe gusa: {record}",
  "verdict.spf.add":
    "Inyandiko ya SPF ntirimo iyi seriveri. Ntiwongereho indi nyandiko ya SPF. Hindura ihari ibe: {record}",
  "verdict.spf.target": "{name}, aho redirect= yerekeza, hafite inyandiko {count} za SPF. Sigaza imwe gusa.",
  "verdict.spf.redirect":
    "Iyi nyandiko n’iya {name} ntizirimo iyi seriveri. Ntiwongereho indi nyandiko ya SPF. Hindura ihari ibe: {record}",
  "verdict.dkim.missing": "Nta nyandiko ya TXT ihari. Tangaza iyi. Bishobora gufata iminota mike kugira ngo iboneke.",
  "verdict.dkim.none": "Hari inyandiko ya TXT, ariko nta rufunguzo rwa DKIM. Tangaza agaciro k’iyi nyandiko uko kari.",
  "verdict.dkim.several": "Hari imfunguzo {count} za DKIM. Siba zose usige urufite aka gaciro.",
  "verdict.dkim.tags":
    "Inyandiko si urutonde rwa DKIM rw’amazina n’agaciro. Tangaza agaciro k’iyi nyandiko uko kari, nta twuguruzo n’utwugarizo.",
  "verdict.dkim.version": "Verisiyo yayo si DKIM1. Tangaza agaciro k’iyi nyandiko uko kari.",
  "verdict.dkim.type": "Ubwoko bw’urufunguzo rwayo si rsa. Tangaza agaciro k’iyi nyandiko uko kari.",
  "verdict.dkim.sha256": "Ntiyemera SHA-256. Tangaza agaciro k’iyi nyandiko uko kari.",
  "verdict.dkim.email": "Ntiyemera urufunguzo kuri imeyili. Tangaza agaciro k’iyi nyandiko uko kari.",
  "verdict.dkim.revoked":
    "Urufunguzo rwayo ni ubusa, bivuze ko rwateshejwe agaciro. Tangaza agaciro k’iyi nyandiko uko kari.",
  "verdict.dkim.base64":
    "Urufunguzo rwayo si base64 yemewe. Tangaza agaciro k’iyi nyandiko uko kari, nta twuguruzo n’utwugarizo cyangwa imirongo mishya.",
  "verdict.dkim.other":
    "Urufunguzo rwayo si urw’iyi ndangarubuga, cyangwa rwaciwe. Tangaza agaciro k’iyi nyandiko uko kari.",
  "verdict.dmarc.missing":
    "Nta nyandiko ya DMARC ihari. Si itegeko, ariko Gmail na Yahoo bayisaba abohereza imeyili nyinshi. Tangaza iyi.",
  "verdict.dmarc.policy":
    "Inyandiko ya DMARC nta politiki yemewe ifite. Shyiraho p=none, cyangwa utangaze iyi nyandiko.",
  "verdict.dmarc.several": "Hari inyandiko {count} za DMARC, bigatuma zose zita agaciro. Sigaza imwe gusa.",
  "verdict.mx.missing": "Nta nyandiko ya MX ihari. Si itegeko. Iyi serivisi ntiyakira ibisubizo.",
  "verdict.mx.address": "Inyandiko ya MX ivuga {host}, idafite aderesi. Yihe inyandiko ya A cyangwa AAAA.",
  "verdict.mx.none":
    "Inyandiko ya MX ivuga ko iyi ndangarubuga itakira imeyili. Si itegeko. Iyi serivisi ntiyakira ibisubizo.",
  "verdict.mx.elsewhere":
    "Imeyili z’iyi ndangarubuga zijya ku yindi seriveri, kandi nta kibazo. Inyandiko si itegeko. Iyi serivisi ntiyakira ibisubizo.",
  "verdict.unanswered": "DNS ntiyasubije. Ibi nta cyo bivuga ku nyandiko. Ongera ugenzure mu minota mike. ({reason})",
  "verdict.warning.dkim":
    "Urufunguzo rwa DKIM ntirwatangajwe neza. Seriveri zakira ntizishobora kugenzura imikono, kandi Gmail na Yahoo byanga imeyili nyinshi zitayifite.",
  "verdict.warning.spf": "Nta nyandiko ya SPF irimo iyi serivisi. Iyo idahari, Gmail na Yahoo byanga imeyili nyinshi.",
  "verdict.warning.dmarc":
    "Nta politiki ya DMARC ihari. Iyo idahari, Gmail na Yahoo byanga imeyili nyinshi; p=none irahagije.",
  "domains.zone": "Inyandiko zose nka dosiye ya zone ya DNS",
  "domains.tracking": "Gukurikirana ifungurwa n’ikandwa",
  "domains.tracking.text": "Bikurikizwa ku imeyili zemerwa guhera ubu. Buri busabe bushobora guhitamo ibindi.",
  "domains.tracking.opens": "Kurikirana ifungurwa",
  "domains.tracking.clicks": "Kurikirana ikandwa",
  "domains.tracking.done": "Ikurikirana ryahinduwe.",
  "domains.delete": "Siba",
  "domains.delete.title": "Urashaka gusiba {domain}?",
  "domains.delete.text":
    "Nyuma yaho imeyili ziva kuri iyi ndangarubuga zirangwa, n’urufunguzo rwayo rugasibwa. Kongera kuyongeraho bikora urufunguzo rushya, n’inyandiko nshya yo gutangaza. Ibi ntibisubizwa inyuma.",
  "domains.delete.typed": "Andika indangarubuga",
  "domains.delete.button": "Siba indangarubuga",
  "domains.delete.done": "Indangarubuga yasibwe."
}
