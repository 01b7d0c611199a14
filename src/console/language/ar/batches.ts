import type { batches as english } from "../en/batches.ts"

/** Batches: one text to many recipients. */
export const batches: Readonly<Record<keyof typeof english, string>> = {
  "nav.batches": "الدفعات",
  "batches.title": "الدفعات",
  "batches.caption": "دفعات هذه القناة، الأحدث أولًا",
  "batches.channels": "القنوات",
  "batches.id": "الدفعة",
  "batches.status": "الحالة",
  "batches.total": "المستلمون",
  "batches.failed": "الفاشلة",
  "batches.progress": "التقدم",
  "batches.created": "تاريخ الإنشاء",
  "batches.completed": "تاريخ الاكتمال",
  "batches.empty.title": "لا توجد دفعات بعد",
  "batches.empty.text": "ترسل الدفعة نصًا واحدًا إلى ما يصل إلى 500 مستلم، لكل منهم قيمه. يعرض الدليل الطلب.",
  "batches.guide": "قراءة الدليل",
  "batch.status.scheduled": "مجدولة",
  "batch.status.queued": "في قائمة الانتظار",
  "batch.status.processing": "قيد التنفيذ",
  "batch.status.completed": "مكتملة",
  "batch.status.failed": "فاشلة",
  "batch.status.canceled": "ملغاة",
  "batch.title":
    "دفعة إلى {total, plural, zero {# مستلم} one {مستلم واحد} two {مستلمَين} few {# مستلمين} many {# مستلمًا} other {# مستلم}}",
  "batch.counts": "التقدم",
  "batch.pace": "{count} في الدقيقة في المتوسط",
  "batch.paceLeft": "{count} في الدقيقة. بهذه الوتيرة تنتهي خلال {span}.",
  "batch.count.sent": "المُرسلة",
  "batch.count.queued": "في قائمة الانتظار",
  "batch.count.failed": "الفاشلة",
  "batch.count.suppressed": "المحظورة",
  "batch.count.canceled": "الملغاة",
  "batch.running":
    "{left, plural, zero {لم تبقَ أي رسالة} one {بقيت رسالة واحدة} two {بقيت رسالتان} few {بقيت # رسائل} many {بقيت # رسالة} other {بقيت # رسالة}}.",
  "batch.fine": "أُرسلت كل الرسائل.",
  "batch.fineButCanceled":
    "{canceled, plural, zero {لم تُلغَ أي رسالة} one {أُلغيت رسالة واحدة} two {أُلغيت رسالتان} few {أُلغيت # رسائل} many {أُلغيت # رسالة} other {أُلغيت # رسالة}}. أُرسلت كل الرسائل الأخرى.",
  "batch.some":
    "{failed, plural, zero {# رسالة من أصل {total} لم تصل} one {رسالة واحدة من أصل {total} لم تصل} two {رسالتان من أصل {total} لم تصلا} few {# رسائل من أصل {total} لم تصل} many {# رسالة من أصل {total} لم تصل} other {# رسالة من أصل {total} لم تصل}} إلى المستلم.",
  "batch.canceledAt":
    "أُلغيت الدفعة. {sent, plural, zero {لم تكن أي رسالة قد أُرسلت} one {كانت رسالة واحدة قد أُرسلت} two {كانت رسالتان قد أُرسلتا} few {كانت # رسائل قد أُرسلت} many {كانت # رسالة قد أُرسلت} other {كانت # رسالة قد أُرسلت}}.",
  "batch.failures": "أحدث حالات الفشل حسب السبب",
  "batch.count":
    "{count, plural, zero {# رسالة} one {رسالة واحدة} two {رسالتان} few {# رسائل} many {# رسالة} other {# رسالة}}",
  "batch.example": "مثال",
  "batch.noReason": "لم يُذكر سبب",
  "batch.noFailures": "لم تفشل أي رسالة.",
  "batch.suppressedReason": "العنوان في قائمة الحظر.",
  "batch.messages": "كل رسائل الدفعة",
  "batch.facts": "المعلومات",
  "batch.cancel": "إلغاء الدفعة",
  "batch.cancel.title": "هل تريد إلغاء هذه الدفعة؟",
  "batch.cancel.text":
    "{queued, plural, zero {لا توجد رسالة في الانتظار} one {توجد رسالة واحدة في الانتظار ولن تُرسل} two {توجد رسالتان في الانتظار ولن تُرسلا} few {توجد # رسائل في الانتظار ولن تُرسل} many {توجد # رسالة في الانتظار ولن تُرسل} other {توجد # رسالة في الانتظار ولن تُرسل}}. ما أُرسل لا يمكن استرجاعه. لا يمكن التراجع عن هذا الإجراء.",
  "batch.cancel.done": "أُلغيت الدفعة.",
  "batch.csv": "المستلمون بصيغة CSV",
  "batch.again": "إعادة الإرسال إلى من لم تصلهم الرسالة",
  "batch.again.title": "هل تريد إعادة الإرسال إلى المستلمين الذين لم تصلهم الرسالة؟",
  "batch.again.text":
    "ترسل دفعة جديدة إليهم المحتوى نفسه. لا يصل شيء إلى المستلمين في قائمة الحظر. يعمل هذا مرة واحدة لكل دفعة.",
  "batch.again.done": "قُبلت الدفعة الجديدة.",
  "batch.again.as": "أُعيد إرسالها في الدفعة"
}
