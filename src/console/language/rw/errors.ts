import type { errors as english } from "../en/errors.ts"

/** What pages say of errors. `error.<type>` is the text of that `error.type`. */
export const errors: Readonly<Record<keyof typeof english, string>> = {
  "problem.missing.title": "Uru rupapuro ntirubaho",
  "problem.missing.text": "Rushobora kuba rwarasibwe, cyangwa ni urw’indi konti.",
  "problem.signedOut.title": "Wasohotse",
  "problem.signedOut.text":
    "Nta cyoherejwe. Uru rupapuro rubitse ibyo wanditse. Injira ku rupapuro rushya, hanyuma ugaruke kuri uru.",
  "problem.signedOut.back": "Subira kuri fomu",
  "problem.forbidden.title": "Inshingano zawe ntizibyemera",
  "problem.forbidden.text": "Inshingano zawe kuri iyi konti: {role}. Hakenewe imwe muri izi nshingano: {roles}.",
  "problem.forbidden.people": "Aba bantu bafite izo nshingano:",
  "problem.tooFast.title": "Ubusabe ni bwinshi cyane",
  "problem.tooFast.text": "Ongera ugerageze nyuma y’{seconds, plural, =1 {isegonda #} other {amasegonda #}}.",
  "problem.away.title": "Serivisi ntisubiza muri iki gihe",
  "problem.away.text": "Nta cyatakaye. Ongera ufungure uru rupapuro nyuma y’amasegonda make.",
  "problem.broken.title": "Habaye ikosa ku ruhande rwacu",
  "problem.broken.text": "Ikosa ryanditswe. Nimero y’ubusabe bwaryo ni {id}.",
  "problem.crossSite.title": "Iyi fomu yavuye ku rundi rubuga, cyangwa urupapuro rwayo rurashaje cyane",
  "problem.crossSite.text": "Nta cyahindutse. Reba ibyanditse hano hasi, hanyuma wongere ubyohereze.",
  "problem.home": "Jya ku rupapuro rw’itangiriro",
  "error.validation_error": "Imyanya imwe ntiyujujwe neza.",
  "error.internal_error": "Habaye ikosa ku ruhande rwacu. Ongera ugerageze.",
  "error.plan_limit_exceeded":
    "Umubare ntarengwa wagezweho: {current, number} kuri {limit, number} byarakoreshejwe. Kuraho kimwe, saba ushinzwe serivisi ifatabuguzi rinini, cyangwa utegereze ko umubare utangira bundi bushya.",
  "error.email_quota_exceeded":
    "Imeyili {current, number} kuri {limit, number} zarakoreshejwe, kandi iyi ifite abohererezwa barenze izisigaye. Saba ushinzwe serivisi ifatabuguzi rinini, cyangwa utegereze ko igipimo gitangira bundi bushya.",
  "error.insufficient_permission": "Inshingano zawe ntizibyemera. Bisabe nyiri konti cyangwa umuyobozi.",
  "error.fresh_login_required":
    "Hashize igihe kinini winjiye. Ongera winjire, cyangwa uhitemo iherezo ry’urufunguzo riri hafi.",
  "error.live_key_required": "Uburyo bw’isuzuma ntibubyemera. Jya mu buryo nyakuri.",
  "error.rate_limit_exceeded": "Hoherejwe ubusabe bwinshi cyane.",
  "error.not_found": "Icyo iyi fomu ivuga ntikikibaho. Ongera ufungure urupapuro uhitemo ikindi.",
  "error.invalid_from_domain":
    "Indangarubuga y’uwohereza ntiyemejwe. Yemeze kuri “Indangarubuga”, cyangwa ureke uwohereza ntumwandike.",
  "error.message_over": "Ibi byamaze koherezwa cyangwa byarangiye. Subira inyuma urebe uko byagenze.",
  "error.complaint_not_removable":
    "Uwohererejwe yavuze ko imeyili yawe ari iyo atifuza, bityo iyi aderesi iguma ku rutonde rw’izakumiriwe. Ntukayandikire.",
  "error.unsupported_destination":
    "Nta SMS yoherezwa muri iki gihugu. Reba nimero, cyangwa usabe ushinzwe serivisi kongeramo igiciro cyacyo.",
  "error.otp_limit": "Kode nyinshi cyane zoherejwe kuri uyu muntu cyangwa kuri nimero zegeranye n’iye.",
  "error.verification_blocked":
    "Kode zijya kuri izi nimero zakumiriwe, kuko hafi ya zose zitanditswe. Zikomorere ku rupapuro rwa kode zikoreshwa rimwe, cyangwa utegereze.",
  "error.country_not_allowed": "Iyi serivisi ntiyohereza kode muri iki gihugu. Saba ushinzwe serivisi kucyongeramo.",
  "error.subscription_required": "Igihe cy’igeragezwa ry’ubuntu nticyemera ibi. Saba ushinzwe serivisi ifatabuguzi.",
  "error.subscription_expired":
    "Igihe cy’igeragezwa ry’ubuntu cyarangiye. Saba ushinzwe serivisi ifatabuguzi kugira ngo wongere wohereze.",
  "error.address_unconfirmed":
    "Aderesi ya imeyili y’iyi konti ntiremezwa. Fungura ihuza riri muri imeyili yayoherejweho.",
  "error.channel_unavailable":
    "Uyu muyoboro ntushobora kohereza kode nonaha. Hitamo undi muyoboro, cyangwa wongere ugerageze nyuma.",
  "error.verification_not_found": "Nta kode yo gusuzuma ihari: yamaze gukoreshwa. Ohereza indi nshya.",
  "error.verification_expired": "Igihe cy’iyi kode cyarangiye. Ohereza indi nshya.",
  "error.max_attempts_exceeded": "Hinjijwe kode nyinshi zitari zo. Ohereza indi nshya.",
  "error.domain_already_exists": "Iyi ndangarubuga wamaze kuyongeraho. Yifungure ku rutonde urebe inyandiko zayo.",
  "error.key_maker_busy": "Hari kongerwaho indangarubuga nyinshi icyarimwe.",
  "error.pairing_unavailable": "WhatsApp ntiyohereje kode ku gihe. Ongera ugerageze nyuma y’umunota.",
  "error.session_already_connected":
    "Iyi sesiyo ihujwe na telefone. Kugira ngo uhuze indi telefone, banza usohore iyi sesiyo.",
  "error.session_not_connected":
    "Iyi sesiyo ntiri ku murongo. Yihuze na telefone, cyangwa utegereze yongere ijye ku murongo.",
  "error.not_group_admin":
    "Abayobozi b’itsinda gusa ni bo bashobora gukora ibi. Gira nimero y’iyi sesiyo umuyobozi, ukoresheje telefone.",
  "error.media_gone": "Iyi dosiye ntikiboneka. Saba uwayohereje kongera kuyohereza.",
  "error.service_unavailable": "Serivisi ntishobora kubikora muri iki gihe. Ongera ugerageze nyuma y’amasegonda make.",
  "error.storage_low": "Serivisi ifite ububiko buke, ntiyemera ibyo kohereza nonaha. Ibyo yemeye mbere biroherezwa.",
  "error.daily_volume_exceeded":
    "Imeyili nini z’uyu munsi ni nyinshi cyane. Ohereza intoya, cyangwa wongere ugerageze ejo.",
  "error.payload_too_large": "Ibi ni binini cyane. Bigabanye.",
  "error.webhook_not_active": "Iyi webhook ntikora. Yicane, hanyuma wongere ugerageze.",
  "error.event_expired": "Ibikubiye muri iki cyabaye ntibikibitswe, bityo ntibishobora kongera koherezwa.",
  "error.source_gone": "Inyandiko z’iyi imeyili ntizikibitswe, bityo nta nkomoko ifite.",
  "error.recovery_in_progress": "Kongera kohereza kw’iyi webhook birakomeje. Tegereza birangire, cyangwa ubihagarike.",
  "error.key_not_rotatable": "Urundi rufunguzo rwasimbuye uru, cyangwa rwarangije igihe. Kora urundi rufunguzo.",
  "error.recovery_ended": "Uku kongera kohereza kwamaze kurangira.",
  "error.sandbox_closed": "Urubuga rw’isuzuma rw’iyi serivisi rurafunze. Koresha URL ya porogaramu yawe.",
  "error.fault_limit":
    "Amakosa {limit, number} yateganyijwe ategereje ubutumwa bwayo. Ohereza ubutumwa bw’isuzuma, cyangwa ukureho amakosa.",
  "error.login_paused": "Hinjijwe amagambobanga cyangwa kode byinshi bitari byo.",
  "error.token_expired": "Iri huza ryamaze gukoreshwa, cyangwa igihe cyaryo cyarangiye. Saba irindi rishya.",
  "error.email_taken": "Hari konti ifite iyi aderesi ya imeyili. Hitamo indi.",
  "error.email_change_limit": "Hasabwe aderesi nshya nyinshi cyane.",
  "error.idempotency_key_reused":
    "Iyi fomu yigeze koherezwa irimo ibindi. Ongera ufungure urupapuro, hanyuma uyohereze.",
  "error.idempotency_in_progress": "Iyi fomu yoherejwe nonaha. Tegereza isegonda urebe niba byakozwe.",
  "error.other": "Serivisi yabyanze. Ivuga mu Cyongereza: {detail}"
}
