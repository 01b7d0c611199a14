import type { doors as english } from "../en/doors.ts"

/** The pages before a person is signed in. */
export const doors: Readonly<Record<keyof typeof english, string>> = {
  "signIn.title": "Ingia",
  "signIn.email": "Anwani ya barua pepe",
  "signIn.password": "Nenosiri",
  "signIn.button": "Ingia",
  "signIn.wrong": "Anwani ya barua pepe au nenosiri si sahihi.",
  "signIn.noOperator.title": "Hakuna anayeweza kuingia bado",
  "signIn.noOperator.text": "Huduma ilionyesha kiungo ilipoanza. Ili kuonyesha kingine, endesha:",
  "signIn.insecure.title": "Anwani hii haijalindwa",
  "signIn.insecure.text":
    "Manenosiri hayapaswi kusafiri bila kusimbwa. Weka proksi ya TLS mbele ya huduma, weka anwani yake ya https katika PUBLIC_URL, kisha ufungue dashibodi hapo. Kwenye mashine yenyewe, http://localhost inafanya kazi.",
  "signIn.signedOut": "Umetoka.",
  "setup.title": "Sanidi usakinishaji huu",
  "setup.lead": "Utakuwa mwendeshaji wake na mmiliki wa akaunti ya kwanza.",
  "setup.name": "Jina lako",
  "setup.email": "Anwani ya barua pepe",
  "setup.emailHint": "Unaitumia kuingia.",
  "setup.password": "Nenosiri",
  "setup.passwordHint": "Angalau herufi 12. Maneno kadhaa yasiyohusiana yanafaa.",
  "setup.language": "Lugha",
  "setup.zone": "Saa za eneo",
  "setup.button": "Anza",
  "setup.stale.title": "Kiungo hiki hakifanyi kazi",
  "setup.stale.text":
    "Kimetumika, kina zaidi ya siku moja, au mtu mwingine amesanidi usakinishaji. Ili kuonyesha kiungo kingine, endesha:",
  "setup.stale.signIn": "Nenda kwenye ukurasa wa kuingia",
  "setup.wrongPassword": "Kuna akaunti yenye anwani hii. Weka nenosiri lake ili uwe mwendeshaji.",
  "noAccount.title": "Bado hujaongezwa kwenye akaunti yoyote",
  "noAccount.text": "Mwombe mmiliki akuongeze.",
  "language.en": "English",
  "language.fr": "Français",
  "language.es": "Español",
  "language.pt": "Português",
  "language.de": "Deutsch",
  "language.ar": "العربية",
  "language.sw": "Kiswahili",
  "language.rw": "Ikinyarwanda"
}
