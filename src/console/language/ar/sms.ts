import type { sms as english } from "../en/sms.ts"

/** The page of SMS: who carries texts, from which senders, at which prices. */
export const sms: Readonly<Record<keyof typeof english, string>> = {
  "nav.sms": "المرسلون والأسعار",
  "smsPage.title": "SMS",
  "smsPage.lead": "من ينقل رسائلك النصية، ومن أي مرسلين، وكم تكلّف كل رسالة.",
  "smsPage.provider": "المزوّد",
  "smsPage.provider.sandbox": "بيئة التجربة: لا تصل أي رسالة نصية إلى هاتف حقيقي",
  "smsPage.provider.smpp": "شركة اتصالات عبر SMPP",
  "smsPage.provider.http": "مزوّد عبر HTTP",
  "smsPage.sandboxNote": "تذهب الرسائل النصية إلى بيئة التجربة. يحدد الإعداد SMS_PROVIDER مزوّدًا حقيقيًا.",
  "smsPage.about": "كيف تُرسل الرسائل النصية",
  "smsPage.senders": "المرسلون",
  "smsPage.anySender": "أي مرسل",
  "smsPage.firstSender": "الرسالة النصية التي بلا مرسل تستخدم المرسل الأول.",
  "smsPage.prices": "الأسعار",
  "smsPage.pricesCaption": "سعر الجزء الواحد حسب البلد",
  "smsPage.pricesText": "الرسالة النصية المكوّنة من 160 حرفًا جزء واحد. في الأبجديات الأخرى يتسع الجزء لـ 70 حرفًا.",
  "smsPage.country": "البلد",
  "smsPage.prefix": "البادئة",
  "smsPage.price": "سعر الجزء",
  "smsPage.find": "البلد أو البادئة",
  "smsPage.search": "بحث",
  "smsPage.noPrice": "لا يوجد بلد بهذا الاسم أو البادئة. تُرفض الرسالة النصية إليه.",
  "smsPage.send": "إرسال رسالة نصية",
  "smsPage.messages": "الرسائل النصية"
}
