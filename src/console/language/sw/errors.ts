import type { errors as english } from "../en/errors.ts"

/** What pages say of errors. `error.<type>` is the text of that `error.type`. */
export const errors: Readonly<Record<keyof typeof english, string>> = {
  "problem.missing.title": "Ukurasa huu haupo",
  "problem.missing.text": "Huenda umefutwa, au ni wa akaunti nyingine.",
  "problem.signedOut.title": "Umetoka",
  "problem.signedOut.text":
    "Hakuna kilichotumwa. Ukurasa huu unahifadhi ulichoandika. Ingia kwenye ukurasa mpya, kisha urudi kwenye ukurasa huu.",
  "problem.signedOut.back": "Rudi kwenye fomu",
  "problem.forbidden.title": "Jukumu lako haliruhusu hili",
  "problem.forbidden.text":
    "Jukumu lako katika akaunti hii ni: {role}. Inahitajika mojawapo ya majukumu haya: {roles}.",
  "problem.forbidden.people": "Watu hawa wana jukumu kama hilo:",
  "problem.tooFast.title": "Maombi ni mengi mno",
  "problem.tooFast.text": "Jaribu tena baada ya {seconds, plural, one {sekunde #} other {sekunde #}}.",
  "problem.away.title": "Huduma haijibu kwa sasa",
  "problem.away.text": "Hakuna kilichopotea. Pakia ukurasa huu tena baada ya sekunde chache.",
  "problem.broken.title": "Hitilafu imetokea upande wetu",
  "problem.broken.text": "Hitilafu imerekodiwa. Kitambulisho cha ombi lake ni {id}.",
  "problem.crossSite.title": "Fomu hii imetoka kwenye tovuti nyingine, au ukurasa wake ni wa zamani mno",
  "problem.crossSite.text": "Hakuna kilichobadilishwa. Kagua thamani zilizo hapa chini kisha uzitume tena.",
  "problem.home": "Nenda kwenye ukurasa wa mwanzo",
  "error.validation_error": "Baadhi ya sehemu si sahihi.",
  "error.internal_error": "Hitilafu imetokea upande wetu. Jaribu tena.",
  "error.plan_limit_exceeded":
    "Kikomo kimefikiwa: {current, number} kati ya {limit, number} zimetumika. Ondoa moja, mwombe mwendeshaji mpango mkubwa zaidi, au subiri kikomo kianze upya.",
  "error.email_quota_exceeded":
    "Barua pepe {current, number} kati ya {limit, number} zimetumika, na hii ina wapokeaji wengi kuliko zilizobaki. Mwombe mwendeshaji mpango mkubwa zaidi, au subiri kiwango kianze upya.",
  "error.insufficient_permission": "Jukumu lako haliruhusu hili. Mwombe mmiliki au msimamizi.",
  "error.fresh_login_required":
    "Uliingia zamani mno kwa hili. Ingia tena, au chagua mwisho wa karibu zaidi wa ufunguo.",
  "error.live_key_required": "Hili haliwezekani katika hali ya majaribio. Nenda kwenye hali halisi.",
  "error.rate_limit_exceeded": "Maombi mengi mno yametumwa.",
  "error.not_found": "Kinachohusu fomu hii hakipo tena. Pakia ukurasa upya na uchague kingine.",
  "error.invalid_from_domain":
    "Kikoa cha mtumaji hakijathibitishwa. Kithibitishe chini ya “Vikoa”, au acha mtumaji wazi.",
  "error.message_over": "Hii imeshatumwa au imeisha. Rudi nyuma uone kilichotokea.",
  "error.complaint_not_removable":
    "Mpokeaji aliripoti barua pepe yako kuwa taka, hivyo anwani hii inabaki kwenye orodha ya vizuizi. Usiiandikie.",
  "error.unsupported_destination":
    "Hakuna SMS inayotumwa kwa nchi hii. Kagua nambari, au mwombe mwendeshaji aongeze bei yake.",
  "error.otp_limit": "Misimbo mingi mno imetumwa kwa mpokeaji huyu au kwa nambari zilizo karibu na yake.",
  "error.verification_blocked":
    "Misimbo kwa nambari hizi imezuiwa, kwa sababu karibu hakuna iliyoingizwa. Ondoa kizuizi kwenye ukurasa wa misimbo ya mara moja, au subiri.",
  "error.country_not_allowed": "Huduma hii haitumi misimbo kwa nchi hii. Mwombe mwendeshaji aiongeze.",
  "error.subscription_required": "Kipindi cha kujaribu bila malipo hakijumuishi hili. Mwombe mwendeshaji mpango.",
  "error.subscription_expired": "Kipindi cha kujaribu bila malipo kimeisha. Mwombe mwendeshaji mpango ili kutuma tena.",
  "error.address_unconfirmed":
    "Anwani ya barua pepe ya akaunti hii haijathibitishwa. Fungua kiungo kwenye barua pepe iliyotumwa kwa anwani hiyo.",
  "error.channel_unavailable": "Njia hii haiwezi kutuma misimbo sasa. Chagua njia nyingine, au jaribu baadaye.",
  "error.verification_not_found": "Hakuna msimbo wa kukagua: umeshatumika. Tuma mpya.",
  "error.verification_expired": "Muda wa msimbo huu umeisha. Tuma mpya.",
  "error.max_attempts_exceeded": "Misimbo mingi isiyo sahihi imeingizwa. Tuma mpya.",
  "error.domain_already_exists": "Umeshaongeza kikoa hiki. Kifungue kwenye orodha uone rekodi zake.",
  "error.key_maker_busy": "Vikoa vingi mno vinaongezwa kwa wakati mmoja.",
  "error.pairing_unavailable": "WhatsApp haikutuma msimbo kwa wakati. Jaribu tena baada ya dakika moja.",
  "error.session_already_connected":
    "Kipindi hiki kimeunganishwa na simu. Ili kuoanisha simu nyingine, kwanza kitoe kwenye simu.",
  "error.session_not_connected": "Kipindi hiki hakijaunganishwa. Kioanishe na simu, au subiri hadi kiunganishwe tena.",
  "error.not_group_admin":
    "Wasimamizi wa kikundi pekee wanaweza kufanya hili. Ifanye nambari ya kipindi hiki kuwa msimamizi, kwenye simu.",
  "error.media_gone": "Faili hii haipatikani tena. Mwombe mtumaji aitume tena.",
  "error.service_unavailable": "Huduma haiwezi kufanya hili kwa sasa. Jaribu tena baada ya sekunde chache.",
  "error.storage_low":
    "Huduma ina upungufu wa hifadhi na haikubali chochote cha kutuma sasa. Kilichokubaliwa awali kinatumwa.",
  "error.daily_volume_exceeded": "Barua pepe kubwa za leo ni nyingi mno. Tuma ndogo zaidi, au jaribu tena kesho.",
  "error.payload_too_large": "Hii ni kubwa mno. Ifupishe.",
  "error.webhook_not_active": "Webhook hii haitumiki. Iwashe, kisha ujaribu tena.",
  "error.event_expired": "Maudhui ya tukio hili hayahifadhiwi tena, hivyo haliwezi kutumwa tena.",
  "error.source_gone": "Maandishi ya barua pepe hii hayahifadhiwi tena, kwa hiyo haina chanzo.",
  "error.recovery_in_progress": "Kutuma tena kwa webhook hii kunaendelea. Subiri kuishe, au kusimamishe.",
  "error.key_not_rotatable": "Ufunguo mwingine umechukua nafasi ya huu, au umeisha muda. Tengeneza ufunguo mwingine.",
  "error.recovery_ended": "Kutuma tena huku kumeshaisha.",
  "error.sandbox_closed": "Uwanja wa majaribio wa usakinishaji huu umefungwa. Tumia URL ya programu yako.",
  "error.fault_limit":
    "Hitilafu {limit, number} zilizopangwa zinasubiri jumbe zake. Tuma jumbe za majaribio, au ondoa hitilafu.",
  "error.login_paused": "Manenosiri au misimbo mingi isiyo sahihi imeingizwa.",
  "error.token_expired": "Kiungo hiki kimeshatumika, au muda wake umeisha. Omba kipya.",
  "error.email_taken": "Akaunti nyingine ina anwani hii ya barua pepe. Chagua nyingine.",
  "error.email_change_limit": "Anwani mpya nyingi mno zimeombwa.",
  "error.idempotency_key_reused": "Fomu hii ilishatumwa na thamani nyingine. Pakia ukurasa upya, kisha uitume.",
  "error.idempotency_in_progress": "Fomu hii imetumwa sasa hivi. Subiri sekunde moja uone kama imefanyika.",
  "error.other": "Huduma imekataa hili. Inasema kwa Kiingereza: {detail}"
}
