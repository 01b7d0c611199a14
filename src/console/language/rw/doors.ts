import type { doors as english } from "../en/doors.ts"

/** The pages before a person is signed in. */
export const doors: Readonly<Record<keyof typeof english, string>> = {
  "signIn.title": "Injira",
  "signIn.email": "Aderesi ya imeyili",
  "signIn.password": "Ijambobanga",
  "signIn.button": "Injira",
  "signIn.wrong": "Aderesi ya imeyili cyangwa ijambobanga si byo.",
  "signIn.noOperator.title": "Nta muntu urabasha kwinjira",
  "signIn.noOperator.text": "Serivisi yerekanye ihuza igihe yatangiraga. Kugira ngo yerekane irindi, koresha:",
  "signIn.insecure.title": "Iyi aderesi ntirinzwe",
  "signIn.insecure.text":
    "Amagambobanga ntagomba koherezwa adafunze mu ibanga. Shyira proxy ya TLS imbere ya serivisi, ushyire aderesi yayo ya https muri PUBLIC_URL, hanyuma abe ari ho ufungurira konsole. Kuri iyo mashini ubwayo, http://localhost irakora.",
  "signIn.signedOut": "Wasohotse.",
  "setup.title": "Tegura iyi serivisi",
  "setup.lead": "Uba ushinzwe serivisi kandi ukaba nyiri konti ya mbere.",
  "setup.name": "Izina ryawe",
  "setup.email": "Aderesi ya imeyili",
  "setup.emailHint": "Ni yo winjiriraho.",
  "setup.password": "Ijambobanga",
  "setup.passwordHint": "Nibura inyuguti 12. Amagambo menshi adafitanye isano ni meza.",
  "setup.language": "Ururimi",
  "setup.zone": "Isaha y’akarere",
  "setup.button": "Tangira",
  "setup.stale.title": "Iri huza ntirikora",
  "setup.stale.text":
    "Ryarakoreshejwe, rimaze igihe kirenze umunsi, cyangwa undi muntu yateguye serivisi. Kugira ngo hagaragazwe irindi huza, koresha:",
  "setup.stale.signIn": "Jya ku rupapuro rwo kwinjira",
  "setup.wrongPassword": "Hari konti ifite iyi aderesi. Andika ijambobanga ryayo kugira ngo ube ushinzwe serivisi.",
  "noAccount.title": "Nta konti urabamo",
  "noAccount.text": "Saba nyiri konti kukongeramo.",
  "language.en": "English",
  "language.fr": "Français",
  "language.es": "Español",
  "language.pt": "Português",
  "language.de": "Deutsch",
  "language.ar": "العربية",
  "language.sw": "Kiswahili",
  "language.rw": "Ikinyarwanda"
}
