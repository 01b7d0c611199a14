import type { doors as english } from "../en/doors.ts"

/** The pages before a person is signed in. */
export const doors: Readonly<Record<keyof typeof english, string>> = {
  "signIn.title": "Se connecter",
  "signIn.email": "Adresse e-mail",
  "signIn.password": "Mot de passe",
  "signIn.button": "Se connecter",
  "signIn.wrong": "L’adresse e-mail ou le mot de passe est incorrect.",
  "signIn.noOperator.title": "Personne ne peut encore se connecter",
  "signIn.noOperator.text": "Le service a affiché un lien à son démarrage. Pour en afficher un autre, exécutez :",
  "signIn.insecure.title": "Cette adresse n’est pas protégée",
  "signIn.insecure.text":
    "Les mots de passe ne doivent pas circuler sans chiffrement. Placez un proxy TLS devant le service, donnez à PUBLIC_URL son adresse https et ouvrez la console à cette adresse. Sur la machine elle-même, http://localhost fonctionne.",
  "signIn.signedOut": "Vous êtes déconnecté.",
  "setup.title": "Configurer cette installation",
  "setup.lead": "Vous en devenez l’exploitant, ainsi que le propriétaire du premier compte.",
  "setup.name": "Votre nom",
  "setup.email": "Adresse e-mail",
  "setup.emailHint": "Elle vous sert à vous connecter.",
  "setup.password": "Mot de passe",
  "setup.passwordHint": "Au moins 12 caractères. Plusieurs mots sans rapport entre eux conviennent bien.",
  "setup.language": "Langue",
  "setup.zone": "Fuseau horaire",
  "setup.button": "Commencer",
  "setup.stale.title": "Ce lien ne fonctionne pas",
  "setup.stale.text":
    "Il a été utilisé, il date de plus d’un jour, ou une autre personne a configuré l’installation. Pour afficher un autre lien, exécutez :",
  "setup.stale.signIn": "Aller à la page de connexion",
  "setup.wrongPassword": "Un compte existe avec cette adresse. Saisissez son mot de passe pour devenir l’exploitant.",
  "noAccount.title": "Vous ne faites encore partie d’aucun compte",
  "noAccount.text": "Demandez à un propriétaire de vous ajouter.",
  "language.en": "English",
  "language.fr": "Français",
  "language.es": "Español",
  "language.pt": "Português",
  "language.de": "Deutsch",
  "language.ar": "العربية",
  "language.sw": "Kiswahili",
  "language.rw": "Ikinyarwanda"
}
