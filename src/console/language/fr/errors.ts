import type { errors as english } from "../en/errors.ts"

/** What pages say of errors. `error.<type>` is the text of that `error.type`. */
export const errors: Readonly<Record<keyof typeof english, string>> = {
  "problem.missing.title": "Cette page n’existe pas",
  "problem.missing.text": "Elle a peut-être été supprimée, ou elle appartient à un autre compte.",
  "problem.signedOut.title": "Vous êtes déconnecté",
  "problem.signedOut.text":
    "Rien n’a été envoyé. Cette page garde ce que vous avez écrit. Connectez-vous sur une nouvelle page, puis revenez à celle-ci.",
  "problem.signedOut.back": "Revenir au formulaire",
  "problem.forbidden.title": "Votre rôle ne le permet pas",
  "problem.forbidden.text": "Votre rôle dans ce compte : {role}. Il faut l’un de ces rôles : {roles}.",
  "problem.forbidden.people": "Ces personnes ont un tel rôle :",
  "problem.tooFast.title": "Trop de requêtes",
  "problem.tooFast.text": "Réessayez dans {seconds, plural, one {# seconde} other {# secondes}}.",
  "problem.away.title": "Le service ne répond pas pour le moment",
  "problem.away.text": "Rien n’est perdu. Rechargez cette page dans quelques secondes.",
  "problem.broken.title": "Un problème est survenu de notre côté",
  "problem.broken.text": "L’erreur a été enregistrée. L’identifiant de sa requête est {id}.",
  "problem.crossSite.title": "Ce formulaire vient d’un autre site, ou sa page est trop ancienne",
  "problem.crossSite.text": "Rien n’a été modifié. Vérifiez les valeurs ci-dessous et envoyez-les de nouveau.",
  "problem.home": "Aller à la page d’accueil",
  "error.validation_error": "Certains champs ne sont pas valides.",
  "error.internal_error": "Un problème est survenu de notre côté. Réessayez.",
  "error.plan_limit_exceeded":
    "La limite est atteinte : {current, number} sur {limit, number} sont utilisés. Supprimez-en un, demandez une formule plus grande à l’exploitant, ou attendez la remise à zéro.",
  "error.email_quota_exceeded":
    "{current, number} e-mails sur {limit, number} sont utilisés, et cet envoi a plus de destinataires qu’il n’en reste. Demandez une formule plus grande à l’exploitant, ou attendez la remise à zéro du quota.",
  "error.insufficient_permission":
    "Votre rôle ne le permet pas. Adressez-vous à un propriétaire ou à un administrateur.",
  "error.fresh_login_required":
    "Vous vous êtes connecté il y a trop longtemps. Reconnectez-vous, ou choisissez une expiration plus proche pour la clé.",
  "error.live_key_required": "Ce n’est pas possible en mode test. Passez en mode réel.",
  "error.rate_limit_exceeded": "Trop de requêtes ont été envoyées.",
  "error.not_found": "L’objet de ce formulaire n’existe plus. Rechargez la page et choisissez-en un autre.",
  "error.invalid_from_domain":
    "Le domaine de l’expéditeur n’est pas vérifié. Vérifiez-le sous « Domaines », ou laissez l’expéditeur vide.",
  "error.message_over": "C’est déjà envoyé ou terminé. Revenez en arrière pour voir ce qu’il en est advenu.",
  "error.complaint_not_removable":
    "Le destinataire a signalé votre e-mail comme spam : cette adresse reste sur la liste de blocage. Ne lui écrivez plus.",
  "error.unsupported_destination":
    "Aucun SMS n’est envoyé vers ce pays. Vérifiez le numéro, ou demandez à l’exploitant d’y ajouter un prix.",
  "error.otp_limit": "Trop de codes ont été envoyés à ce destinataire ou à des numéros voisins.",
  "error.verification_blocked":
    "Les codes vers ces numéros sont bloqués, car presque aucun n’a été saisi. Débloquez-les sur la page des codes à usage unique, ou attendez.",
  "error.country_not_allowed": "Ce service n’envoie pas de codes vers ce pays. Demandez à l’exploitant de l’ajouter.",
  "error.subscription_required": "L’essai gratuit ne comprend pas ceci. Demandez une formule à l’exploitant.",
  "error.subscription_expired":
    "L’essai gratuit est terminé. Demandez une formule à l’exploitant pour envoyer de nouveau.",
  "error.address_unconfirmed":
    "L’adresse e-mail de ce compte n’est pas confirmée. Ouvrez le lien de l’e-mail qui y a été envoyé.",
  "error.channel_unavailable":
    "Ce canal ne peut pas envoyer de codes pour le moment. Choisissez un autre canal, ou réessayez plus tard.",
  "error.verification_not_found": "Il n’y a pas de code à vérifier : il a déjà été utilisé. Envoyez-en un nouveau.",
  "error.verification_expired": "Ce code a expiré. Envoyez-en un nouveau.",
  "error.max_attempts_exceeded": "Trop de codes erronés ont été saisis. Envoyez-en un nouveau.",
  "error.domain_already_exists":
    "Vous avez déjà ajouté ce domaine. Ouvrez-le dans la liste pour voir ses enregistrements.",
  "error.key_maker_busy": "Trop de domaines sont ajoutés en même temps.",
  "error.pairing_unavailable": "WhatsApp n’a pas envoyé de code à temps. Réessayez dans une minute.",
  "error.session_already_connected":
    "Cette session est connectée à un téléphone. Pour en associer un autre, déconnectez d’abord la session.",
  "error.session_not_connected":
    "Cette session n’est pas connectée. Associez-lui un téléphone, ou attendez qu’elle soit de nouveau connectée.",
  "error.not_group_admin":
    "Seuls les administrateurs du groupe peuvent le faire. Nommez le numéro de cette session administrateur, sur un téléphone.",
  "error.media_gone": "Ce fichier n’est plus disponible. Demandez à l’expéditeur de l’envoyer de nouveau.",
  "error.service_unavailable": "Le service ne peut pas le faire pour le moment. Réessayez dans quelques secondes.",
  "error.storage_low":
    "Le service manque d’espace de stockage et n’accepte rien à envoyer pour le moment. Ce qu’il a accepté avant est envoyé.",
  "error.daily_volume_exceeded":
    "Trop d’e-mails volumineux ont été envoyés aujourd’hui. Envoyez-en un plus petit, ou réessayez demain.",
  "error.payload_too_large": "C’est trop volumineux. Raccourcissez-le.",
  "error.webhook_not_active": "Ce webhook n’est pas actif. Activez-le, puis réessayez.",
  "error.event_expired": "Le contenu de cet événement n’est plus conservé : il ne peut pas être renvoyé.",
  "error.source_gone": "Les textes de cet e-mail ne sont plus conservés : il n’a donc plus de code source.",
  "error.recovery_in_progress": "Un rejeu de ce webhook est en cours. Attendez sa fin, ou arrêtez-le.",
  "error.key_not_rotatable": "Une autre clé a remplacé celle-ci, ou elle a expiré. Créez une autre clé.",
  "error.recovery_ended": "Ce rejeu est déjà terminé.",
  "error.sandbox_closed": "Le bac à sable de cette installation est fermé. Utilisez l’URL de votre application.",
  "error.fault_limit":
    "{limit, number} pannes planifiées attendent leurs messages. Envoyez des messages de test, ou retirez les pannes.",
  "error.login_paused": "Trop de mots de passe ou de codes erronés ont été saisis.",
  "error.token_expired": "Ce lien a déjà été utilisé, ou il a expiré. Demandez-en un nouveau.",
  "error.email_taken": "Un compte a déjà cette adresse e-mail. Choisissez-en une autre.",
  "error.email_change_limit": "Trop de nouvelles adresses ont été demandées.",
  "error.idempotency_key_reused":
    "Ce formulaire a déjà été envoyé avec d’autres valeurs. Rechargez la page, puis envoyez-le.",
  "error.idempotency_in_progress": "Ce formulaire vient d’être envoyé. Attendez une seconde et vérifiez si c’est fait.",
  "error.other": "Le service a refusé. Il dit en anglais : {detail}"
}
