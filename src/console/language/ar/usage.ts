import type { usage as english } from "../en/usage.ts"

/** Usage and costs of an account. */
export const usage: Readonly<Record<keyof typeof english, string>> = {
  "nav.usage": "الاستخدام",
  "usage.title": "الاستخدام",
  "usage.lead": "ما أرسله هذا الحساب، وكم يكلّف. الأيام بتوقيت UTC.",
  "usage.quotas": "الحصص",
  "usage.unused": "المتبقي",
  "usage.used": "استُخدم {used} من {limit}",
  "usage.unlimited": "استُخدم {used}، بلا حد",
  "usage.left": "يتبقى {left} حتى {time}",
  "usage.runsOut": "بوتيرة هذا الشهر تُستنفد في {day}.",
  "usage.table": "الاستخدام في هذه المدة",
  "usage.untilHint": "لا يُحتسب هذا اليوم.",
  "usage.wrong": "هذه المدة غير صالحة. يجب أن تأتي النهاية بعد البداية بسنة على الأكثر.",
  "usage.granularity": "التجميع حسب",
  "usage.day": "الأيام",
  "usage.week": "الأسابيع",
  "usage.month": "الأشهر",
  "usage.date": "البداية",
  "usage.metric": "البند",
  "usage.count": "العدد",
  "usage.cost": "التكلفة (USD)",
  "usage.export": "تصدير بصيغة CSV",
  "usage.empty.title": "لا استخدام في هذه المدة",
  "usage.empty.text": "تظهر الرسائل هنا فور قبولها.",
  "usage.metric.email": "مستلمو البريد الإلكتروني",
  "usage.metric.email_sent": "رسائل البريد الإلكتروني المسلّمة إلى خادم الترحيل",
  "usage.metric.sms": "SMS",
  "usage.metric.sms_segments": "أجزاء SMS",
  "usage.metric.whatsapp": "رسائل WhatsApp",
  "usage.metric.otp": "رموز لمرة واحدة"
}
