import type { timeline as english } from "../en/timeline.ts"

/** What happened to a message, entry by entry. */
export const timeline: Readonly<Record<keyof typeof english, string>> = {
  "happened.for": "{what}: {to}",
  "happened.accepted": "قبلت الخدمة الرسالة",
  "happened.scheduled": "تنتظر حتى {when}، كما طُلب",
  "happened.rescheduled": "لها موعد جديد: {when}",
  "happened.suppressed": "{to} في قائمة الحظر، لذلك لا يصل إليه بريد",
  "happened.queued": "حان موعدها",
  "happened.claimed": "بدأت عقدة المحاولة {attempt}",
  "happened.deferred": "موعد المحاولة التالية {when}",
  "happened.canceled": "أُلغيت",
  "happened.event": "نُشر الحدث {event}",
  "happened.delivery": "خطاف الويب {webhook}: {event}",
  "happened.attempt.accepted": "قُبلت المحاولة {attempt}",
  "happened.attempt.refused": "رُفضت المحاولة {attempt}",
  "happened.attempt.deferred": "أُجّلت المحاولة {attempt}",
  "happened.attempt.unconfirmed": "لم تُؤكَّد المحاولة {attempt}",
  "happened.attempt.failed": "فشلت المحاولة {attempt}",
  "happened.dialogue": "الحوار",
  "happened.part": "الجزء {part}",
  "happened.delivery.pending": "في الانتظار",
  "happened.delivery.retrying": "تُعاد محاولته",
  "happened.delivery.delivered": "تم تسليمه",
  "happened.delivery.failed": "فشل",
  "happened.delivery.skipped": "تم تخطيه",
  "happened.tries":
    "{attempts, plural, zero {لا محاولات} one {محاولة واحدة} two {محاولتان} few {# محاولات} many {# محاولة} other {# محاولة}}",
  "happened.all": "عرض كل ما حدث",
  "happened.source.relay": "حسب خادم ترحيل البريد",
  "happened.source.report": "حسب تقرير تسليم",
  "happened.source.pixel": "فُتح البريد",
  "happened.source.link": "فُتح رابط",
  "happened.source.provider": "حسب شركة الاتصالات",
  "happened.source.receipt": "حسب إشعار استلام",
  "happened.source.whatsapp": "حسب WhatsApp",
  "happened.source.service": "حسب هذه الخدمة"
}
