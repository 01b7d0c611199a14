import type { attention as english } from "../en/attention.ts"

/** What needs attention: a sentence and a button for each kind. */
export const attention: Readonly<Record<keyof typeof english, string>> = {
  "attention.since": "Depuis le {time}.",
  "attention.webhook_unhealthy": "Le webhook {name} est défaillant. Il ne reçoit aucun nouvel événement.",
  "attention.webhook_unhealthy.button": "Ouvrir le webhook",
  "attention.webhook_failing": "Le webhook {name} échoue en ce moment. Ses événements sont envoyés de nouveau.",
  "attention.webhook_failing.button": "Ouvrir le webhook",
  "attention.session_failed": "La session WhatsApp {name} s’est arrêtée. Associez de nouveau son téléphone.",
  "attention.session_failed.button": "Ouvrir la session",
  "attention.session_disconnected": "La session WhatsApp {name} est déconnectée.",
  "attention.session_disconnected.button": "Ouvrir la session",
  "attention.session_unpaired": "La session WhatsApp {name} attend un téléphone.",
  "attention.session_unpaired.button": "Afficher le code QR",
  "attention.domain_lost": "Un enregistrement DNS du domaine d’envoi {name} manque ou est incorrect.",
  "attention.domain_lost.button": "Ouvrir le domaine",
  "attention.domain_pending": "Le domaine d’envoi {name} n’est pas encore vérifié.",
  "attention.domain_pending.button": "Ouvrir le domaine",
  "attention.bounces_high":
    "Beaucoup d’e-mails des dernières 24 heures ont été rejetés. Retirez les adresses qui n’existent pas.",
  "attention.bounces_high.button": "Afficher les e-mails rejetés",
  "attention.complaints_high": "Beaucoup d’e-mails des dernières 24 heures ont été signalés comme spam.",
  "attention.complaints_high.button": "Afficher les signalements",
  "attention.quota_reached": "Le quota du mois est épuisé : {name}.",
  "attention.quota_reached.button": "Afficher la consommation",
  "attention.quota_near": "Plus de 80 pour cent d’un quota sont utilisés : {name}.",
  "attention.quota_near.button": "Afficher la consommation",
  "attention.trial_ending": "L’essai se termine dans les 24 heures.",
  "attention.trial_ending.button": "Afficher la consommation",
  "attention.relay_away":
    "Le relais de messagerie est injoignable. Rien n’est perdu : les e-mails attendent et partiront dès son retour.",
  "attention.relay_away.button": "Afficher les messages en attente",
  "attention.carrier_away":
    "L’opérateur mobile est injoignable. Rien n’est perdu : les SMS attendent et partiront dès son retour.",
  "attention.carrier_away.button": "Afficher les messages en attente",
  "attention.queue_late":
    "Des messages par {name} attendent depuis plus d’une minute. Le relais de messagerie ou l’opérateur mobile est peut-être injoignable.",
  "attention.queue_late.whatsapp":
    "Des messages WhatsApp attendent depuis plus d’une minute. Leur session est peut-être déconnectée, ou a peut-être atteint sa limite.",
  "attention.queue_late.button": "Afficher les messages en attente",
  "attention.codes_late":
    "Des codes à usage unique par {name} attendent depuis plus de 10 secondes. Le relais de messagerie ou l’opérateur mobile est peut-être injoignable.",
  "attention.codes_late.whatsapp":
    "Des codes à usage unique par WhatsApp attendent depuis plus de 10 secondes. Leur session est peut-être déconnectée, ou a peut-être atteint sa limite.",
  "attention.codes_late.button": "Afficher les codes",
  "attention.codes_blocked":
    "Les codes vers les numéros qui commencent par {name} sont retenus : une fraude est probable.",
  "attention.codes_blocked.button": "Afficher les numéros bloqués",
  "attention.key_expiring": "La clé API {name} expire dans les sept jours.",
  "attention.key_expiring.button": "Ouvrir les clés",
  "attention.key_unused": "La clé API {name} n’a pas été utilisée depuis 90 jours.",
  "attention.key_unused.button": "Ouvrir les clés",
  "attention.no_second_factor": "Le propriétaire se connecte avec un simple mot de passe.",
  "attention.no_second_factor.button": "Ajouter un second facteur"
}
