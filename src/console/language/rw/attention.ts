import type { attention as english } from "../en/attention.ts"

/** What needs attention: a sentence and a button for each kind. */
export const attention: Readonly<Record<keyof typeof english, string>> = {
  "attention.since": "Kuva {time}.",
  "attention.webhook_unhealthy": "Webhook {name} ifite ikibazo. Nta byabaye bishya ibona.",
  "attention.webhook_unhealthy.button": "Fungura webhook",
  "attention.webhook_failing": "Webhook {name} irananiranye ubu. Ibyabaye byayo birongera kugeragezwa.",
  "attention.webhook_failing.button": "Fungura webhook",
  "attention.session_failed": "Sesiyo ya WhatsApp {name} yahagaze. Ongera uhuze telefone yayo.",
  "attention.session_failed.button": "Fungura sesiyo",
  "attention.session_disconnected": "Sesiyo ya WhatsApp {name} ntiri ku murongo.",
  "attention.session_disconnected.button": "Fungura sesiyo",
  "attention.session_unpaired": "Sesiyo ya WhatsApp {name} itegereje telefone.",
  "attention.session_unpaired.button": "Erekana kode ya QR",
  "attention.domain_lost": "Inyandiko ya DNS y’indangarubuga yo kohereza {name} ntihari cyangwa si yo.",
  "attention.domain_lost.button": "Fungura indangarubuga",
  "attention.domain_pending": "Indangarubuga yo kohereza {name} ntiremezwa.",
  "attention.domain_pending.button": "Fungura indangarubuga",
  "attention.bounces_high": "Imeyili nyinshi zo mu masaha 24 ashize zaragaruwe. Kuraho aderesi zitabaho.",
  "attention.bounces_high.button": "Erekana imeyili zagaruwe",
  "attention.complaints_high": "Imeyili nyinshi zo mu masaha 24 ashize ziswe ubutumwa butifuzwa.",
  "attention.complaints_high.button": "Erekana ibirego",
  "attention.quota_reached": "Igipimo cy’ukwezi cyakoreshejwe cyose: {name}.",
  "attention.quota_reached.button": "Erekana ibyakoreshejwe",
  "attention.quota_near": "Hakoreshejwe ibirenze 80 ku ijana by’igipimo: {name}.",
  "attention.quota_near.button": "Erekana ibyakoreshejwe",
  "attention.trial_ending": "Igihe cy’igeragezwa kirangira mu masaha 24.",
  "attention.trial_ending.button": "Erekana ibyakoreshejwe",
  "attention.relay_away": "Seriveri yohereza imeyili ntiboneka. Nta kibura: imeyili zirategereza zikoherezwa igarutse.",
  "attention.relay_away.button": "Erekana ubutumwa butegereje",
  "attention.carrier_away": "Sosiyete y’itumanaho ntiboneka. Nta kibura: SMS zirategereza zikoherezwa igarutse.",
  "attention.carrier_away.button": "Erekana ubutumwa butegereje",
  "attention.queue_late":
    "Ubutumwa bwa {name} bumaze igihe kirenze umunota butegereje. Seriveri yohereza imeyili cyangwa sosiyete y’itumanaho bishobora kuba bitaboneka.",
  "attention.queue_late.whatsapp":
    "Ubutumwa bwa WhatsApp bumaze igihe kirenze umunota butegereje. Sesiyo yabwo ishobora kuba itari ku murongo, cyangwa yageze ku ntera yayo ntarengwa.",
  "attention.queue_late.button": "Erekana ubutumwa butegereje",
  "attention.codes_late":
    "Kode zikoreshwa rimwe za {name} zimaze igihe kirenze amasegonda 10 zitegereje. Seriveri yohereza imeyili cyangwa sosiyete y’itumanaho bishobora kuba bitaboneka.",
  "attention.codes_late.whatsapp":
    "Kode zikoreshwa rimwe za WhatsApp zimaze igihe kirenze amasegonda 10 zitegereje. Sesiyo yazo ishobora kuba itari ku murongo, cyangwa yageze ku ntera yayo ntarengwa.",
  "attention.codes_late.button": "Erekana kode",
  "attention.codes_blocked":
    "Kode zijya kuri nimero zitangirwa na {name} zahagaritswe kuko bishobora kuba ari uburiganya.",
  "attention.codes_blocked.button": "Erekana nimero zakumiriwe",
  "attention.key_expiring": "Urufunguzo rwa API {name} rurangira mu minsi irindwi.",
  "attention.key_expiring.button": "Fungura imfunguzo",
  "attention.key_unused": "Urufunguzo rwa API {name} rumaze iminsi 90 rudakoreshwa.",
  "attention.key_unused.button": "Fungura imfunguzo",
  "attention.no_second_factor": "Nyiri konti yinjirira ku ijambobanga ryonyine.",
  "attention.no_second_factor.button": "Ongeraho icyemezo cya kabiri"
}
