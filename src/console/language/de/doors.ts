import type { doors as english } from "../en/doors.ts"

/** The pages before a person is signed in. */
export const doors: Readonly<Record<keyof typeof english, string>> = {
  "signIn.title": "Anmelden",
  "signIn.email": "E-Mail-Adresse",
  "signIn.password": "Passwort",
  "signIn.button": "Anmelden",
  "signIn.wrong": "Die E-Mail-Adresse oder das Passwort ist falsch.",
  "signIn.noOperator.title": "Noch kann sich niemand anmelden",
  "signIn.noOperator.text":
    "Der Dienst hat beim Start einen Link ausgegeben. Um einen weiteren auszugeben, führen Sie aus:",
  "signIn.insecure.title": "Diese Adresse ist nicht geschützt",
  "signIn.insecure.text":
    "Passwörter dürfen nicht unverschlüsselt übertragen werden. Stellen Sie einen TLS-Proxy vor den Dienst, setzen Sie PUBLIC_URL auf dessen https-Adresse und öffnen Sie die Konsole dort. Auf dem Rechner selbst funktioniert http://localhost.",
  "signIn.signedOut": "Sie sind abgemeldet.",
  "setup.title": "Diese Installation einrichten",
  "setup.lead": "Sie werden ihr Betreiber und Inhaber des ersten Kontos.",
  "setup.name": "Ihr Name",
  "setup.email": "E-Mail-Adresse",
  "setup.emailHint": "Damit melden Sie sich an.",
  "setup.password": "Passwort",
  "setup.passwordHint": "Mindestens 12 Zeichen. Gut sind mehrere Wörter, die nicht zusammengehören.",
  "setup.language": "Sprache",
  "setup.zone": "Zeitzone",
  "setup.button": "Beginnen",
  "setup.stale.title": "Dieser Link funktioniert nicht",
  "setup.stale.text":
    "Er wurde verwendet, er ist älter als ein Tag, oder jemand anderes hat die Installation eingerichtet. Um einen weiteren Link auszugeben, führen Sie aus:",
  "setup.stale.signIn": "Zur Anmeldung",
  "setup.wrongPassword": "Es gibt ein Konto mit dieser Adresse. Geben Sie sein Passwort ein, um Betreiber zu werden.",
  "noAccount.title": "Sie gehören noch zu keinem Konto",
  "noAccount.text": "Bitten Sie einen Inhaber, Sie hinzuzufügen.",
  "language.en": "English",
  "language.fr": "Français",
  "language.es": "Español",
  "language.pt": "Português",
  "language.de": "Deutsch",
  "language.ar": "العربية",
  "language.sw": "Kiswahili",
  "language.rw": "Ikinyarwanda"
}
