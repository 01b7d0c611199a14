/** What pages say of errors. `error.<type>` is the text of that `error.type`. */
export const errors = {
  "problem.missing.title": "This page does not exist",
  "problem.missing.text": "It may have been deleted, or it belongs to another account.",
  "problem.signedOut.title": "You are signed out",
  "problem.signedOut.text":
    "Nothing was sent. This page keeps what you wrote. Sign in on a new page, and then come back to this one.",
  "problem.signedOut.back": "Back to the form",
  "problem.forbidden.title": "Your role does not allow this",
  "problem.forbidden.text": "Your role in this account is {role}. This needs one of these roles: {roles}.",
  "problem.forbidden.people": "These people have such a role:",
  "problem.tooFast.title": "Too many requests",
  "problem.tooFast.text": "Try again in {seconds, plural, one {# second} other {# seconds}}.",
  "problem.away.title": "The service does not answer at the moment",
  "problem.away.text": "Nothing is lost. Load this page again in a few seconds.",
  "problem.broken.title": "Something went wrong on our side",
  "problem.broken.text": "The error was logged. Its request id is {id}.",
  "problem.crossSite.title": "This form came from another site, or its page is too old",
  "problem.crossSite.text": "Nothing was changed. Check the values below and send them again.",
  "problem.home": "Go to the start page",
  "error.validation_error": "Some fields are not valid.",
  "error.internal_error": "Something went wrong on our side. Try again.",
  "error.plan_limit_exceeded":
    "The limit is reached: {current, number} of {limit, number} are used. Remove one, ask the operator for a larger plan, or wait until the limit starts again.",
  "error.email_quota_exceeded":
    "{current, number} of {limit, number} emails are used, and this mail has more recipients than are left. Ask the operator for a larger plan, or wait until the quota starts again.",
  "error.insufficient_permission": "Your role does not allow this. Ask an owner or an admin.",
  "error.fresh_login_required":
    "You signed in too long ago for this. Sign in again, or choose an earlier end for the key.",
  "error.live_key_required": "This is not possible in test mode. Switch to live mode.",
  "error.rate_limit_exceeded": "Too many requests were sent.",
  "error.not_found": "What this form is about does not exist any more. Load the page again and choose another one.",
  "error.invalid_from_domain":
    "The domain of the sender is not verified. Verify it under “Domains”, or leave the sender empty.",
  "error.message_over": "This is already sent, or it has ended. Go back to see what became of it.",
  "error.complaint_not_removable":
    "The recipient reported your mail as spam, so this address stays on the suppression list. Do not write to it.",
  "error.unsupported_destination":
    "No SMS is sent to this country. Check the number, or ask the operator to add a price for it.",
  "error.otp_limit": "Too many codes were sent to this recipient or to numbers near it.",
  "error.verification_blocked":
    "Codes to these numbers are blocked, because hardly any was entered. Unblock them on the page of one-time codes, or wait.",
  "error.country_not_allowed": "This service sends no codes to this country. Ask the operator to add it.",
  "error.subscription_required": "The free trial does not include this. Ask the operator for a plan.",
  "error.subscription_expired": "The free trial has ended. Ask the operator for a plan to send again.",
  "error.address_unconfirmed":
    "The email address of this account is not confirmed. Open the link in the mail that was sent to it.",
  "error.channel_unavailable": "This channel cannot send codes now. Choose another channel, or try again later.",
  "error.verification_not_found": "There is no code to check: it was used already. Send a new one.",
  "error.verification_expired": "This code has expired. Send a new one.",
  "error.max_attempts_exceeded": "Too many wrong codes were entered. Send a new one.",
  "error.domain_already_exists": "You have added this domain before. Open it in the list to see its records.",
  "error.key_maker_busy": "Too many domains are being added at once.",
  "error.pairing_unavailable": "WhatsApp sent no code in time. Try again in a minute.",
  "error.session_already_connected":
    "This session is connected to a phone. To pair another phone, log the session out first.",
  "error.session_not_connected":
    "This session is not connected. Pair a phone with it, or wait until it is connected again.",
  "error.not_group_admin": "Only admins of the group can do this. Make the number of this session an admin on a phone.",
  "error.media_gone": "This file is no longer available. Ask the sender to send it again.",
  "error.service_unavailable": "The service cannot do this at the moment. Try again in a few seconds.",
  "error.storage_low":
    "The service is short of storage and accepts nothing to send now. What it accepted before is sent.",
  "error.daily_volume_exceeded": "The large mails of this day are too many. Send a smaller one, or try again tomorrow.",
  "error.payload_too_large": "This is too large. Shorten it.",
  "error.webhook_not_active": "This webhook is not active. Activate it, then try again.",
  "error.event_expired": "The content of this event is no longer stored, so it cannot be sent again.",
  "error.source_gone": "The texts of this email are no longer kept, so it has no source.",
  "error.recovery_in_progress": "A replay of this webhook is running. Wait until it ends, or stop it.",
  "error.key_not_rotatable": "Another key has replaced this one, or it has expired. Create another key.",
  "error.recovery_ended": "This replay has already ended.",
  "error.sandbox_closed": "The sandbox of this installation is closed. Use the URL of your application.",
  "error.fault_limit":
    "{limit, number} planned faults wait for their messages. Send test messages, or remove the faults.",
  "error.login_paused": "Too many wrong passwords or codes were entered.",
  "error.token_expired": "This link was used already, or it has expired. Ask for a new one.",
  "error.email_taken": "An account has this email address. Choose another one.",
  "error.email_change_limit": "Too many new addresses were asked for.",
  "error.idempotency_key_reused": "This form was sent before with other values. Load the page again, then send it.",
  "error.idempotency_in_progress": "This form was just sent. Wait a second and look whether it was done.",
  "error.other": "The service refused this. It says in English: {detail}"
} as const
