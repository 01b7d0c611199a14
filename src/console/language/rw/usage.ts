import type { usage as english } from "../en/usage.ts"

/** Usage and costs of an account. */
export const usage: Readonly<Record<keyof typeof english, string>> = {
  "nav.usage": "Ibyakoreshejwe",
  "usage.title": "Ibyakoreshejwe",
  "usage.lead": "Ibyo iyi konti yohereje, n’igiciro cyabyo. Iminsi ni iya UTC.",
  "usage.quotas": "Ibipimo",
  "usage.unused": "Ibisigaye",
  "usage.used": "hakoreshejwe {used} kuri {limit}",
  "usage.unlimited": "hakoreshejwe {used}, nta gipimo ntarengwa",
  "usage.left": "hasigaye {left} kugeza {time}",
  "usage.runsOut": "Ku muvuduko w’uku kwezi kizashira ku wa {day}.",
  "usage.table": "Ibyakoreshejwe muri iki gihe",
  "usage.untilHint": "Uyu munsi ntubarwa.",
  "usage.wrong": "Iki gihe ntigikora. Iherezo rigomba kuza nyuma y’intangiriro, bitarenze umwaka umwe nyuma yayo.",
  "usage.granularity": "Hakurikijwe",
  "usage.day": "Iminsi",
  "usage.week": "Ibyumweru",
  "usage.month": "Amezi",
  "usage.date": "Intangiriro",
  "usage.metric": "Icyakoreshejwe",
  "usage.count": "Umubare",
  "usage.cost": "Igiciro (USD)",
  "usage.export": "Vana muri konsole nka CSV",
  "usage.empty.title": "Nta byakoreshejwe muri iki gihe",
  "usage.empty.text": "Ubutumwa bugaragara hano bukimara kwemerwa.",
  "usage.metric.email": "Abohererejwe imeyili",
  "usage.metric.email_sent": "Imeyili zahawe seriveri",
  "usage.metric.sms": "SMS",
  "usage.metric.sms_segments": "Ibice bya SMS",
  "usage.metric.whatsapp": "Ubutumwa bwa WhatsApp",
  "usage.metric.otp": "Kode zikoreshwa rimwe"
}
