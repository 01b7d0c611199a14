import type { doors as english } from "../en/doors.ts"

/** The pages before a person is signed in. */
export const doors: Readonly<Record<keyof typeof english, string>> = {
  "signIn.title": "تسجيل الدخول",
  "signIn.email": "عنوان البريد الإلكتروني",
  "signIn.password": "كلمة المرور",
  "signIn.button": "تسجيل الدخول",
  "signIn.wrong": "عنوان البريد الإلكتروني أو كلمة المرور غير صحيحة.",
  "signIn.paused":
    "أُدخلت كلمات مرور خاطئة كثيرة. حاول مرة أخرى بعد {seconds, plural, zero {# ثانية} one {ثانية واحدة} two {ثانيتين} few {# ثوانٍ} many {# ثانية} other {# ثانية}}.",
  "signIn.noOperator.title": "لا يمكن لأحد تسجيل الدخول بعد",
  "signIn.noOperator.text": "عرضت الخدمة رابطًا عند بدء تشغيلها. لعرض رابط آخر، شغّل:",
  "signIn.insecure.title": "هذا العنوان غير محمي",
  "signIn.insecure.text":
    "يجب ألا تُرسل كلمات المرور دون تشفير. ضع وكيل TLS أمام الخدمة، واضبط PUBLIC_URL على عنوان https الخاص به، وافتح اللوحة هناك. على الجهاز نفسه يمكن استخدام http://localhost.",
  "signIn.signedOut": "تم تسجيل خروجك.",
  "setup.title": "إعداد هذا التثبيت",
  "setup.lead": "ستصبح مشغّله ومالك الحساب الأول.",
  "setup.name": "اسمك",
  "setup.email": "عنوان البريد الإلكتروني",
  "setup.emailHint": "تسجّل الدخول به.",
  "setup.password": "كلمة المرور",
  "setup.passwordHint": "12 حرفًا على الأقل. من الجيد استخدام عدة كلمات لا علاقة بينها.",
  "setup.language": "اللغة",
  "setup.zone": "المنطقة الزمنية",
  "setup.button": "بدء",
  "setup.stale.title": "هذا الرابط لا يعمل",
  "setup.stale.text": "إما أنه استُخدم، أو مضى عليه أكثر من يوم، أو أعدّ شخص آخر التثبيت. لعرض رابط آخر، شغّل:",
  "setup.stale.signIn": "الانتقال إلى صفحة تسجيل الدخول",
  "setup.wrongPassword": "يوجد حساب بهذا العنوان. أدخل كلمة مروره لتصبح المشغّل.",
  "noAccount.title": "لا تنتمي إلى أي حساب بعد",
  "noAccount.text": "اطلب من أحد المالكين إضافتك.",
  "language.en": "English",
  "language.fr": "Français",
  "language.es": "Español",
  "language.pt": "Português",
  "language.de": "Deutsch",
  "language.ar": "العربية",
  "language.sw": "Kiswahili",
  "language.rw": "Ikinyarwanda"
}
