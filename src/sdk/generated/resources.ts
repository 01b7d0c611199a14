// Generated from docs/openapi.json by `node scripts/openapi.ts`. Do not edit.
import type { OperationTable } from "../core/bindOperations.ts"
import type { List } from "../core/Page.ts"
import type { RequestOptions } from "../core/Transport.ts"
import type {
  AcceptedEmail,
  AcceptedEmailBatch,
  AcceptedSms,
  AcceptedSmsBatch,
  AcceptedWhatsAppBatch,
  AcceptedWhatsAppMessage,
  Account,
  AccountRemoval,
  AddedEmailDomain,
  ApiKey,
  AttentionItem,
  BillingReport,
  BlockedPrefix,
  CheckedCode,
  CheckedEmailDomain,
  CodeCheck,
  CreatedApiKey,
  CreatedWhatsAppSession,
  DailyUsage,
  DeletedSandboxFaults,
  DeletedSandboxMessages,
  EmailBatch,
  EmailBatchRecipient,
  EmailDomain,
  EmailDomainChange,
  EmailMessage,
  EmailMessageContent,
  EmailMessageDetails,
  EmailTemplate,
  EmailTemplateChange,
  EmailTemplateSummary,
  EmailTemplateVersion,
  EmailTemplateVersionSummary,
  Failover,
  KeyRotation,
  Login,
  LoginSession,
  Member,
  Message,
  MessageBatch,
  MessageStatistics,
  MessageSummary,
  NewAccount,
  NewApiKey,
  NewEmail,
  NewEmailBatch,
  NewEmailDomain,
  NewEmailTemplate,
  NewFailover,
  NewLogin,
  NewSandboxFault,
  NewSms,
  NewSmsBatch,
  NewSuppression,
  NewSuppressions,
  NewVerification,
  NewWebhook,
  NewWebhookRecovery,
  NewWhatsAppBatch,
  NewWhatsAppGroup,
  NewWhatsAppMessage,
  NewWhatsAppSession,
  NotificationSettings,
  NotificationSettingsChange,
  PairingCode,
  PairingRequest,
  PasswordChange,
  PasswordReset,
  PasswordResetRequest,
  PhoneValidation,
  PreviewedSms,
  Profile,
  ProfileChange,
  RequestRecord,
  Reschedule,
  RotatedApiKey,
  SandboxFault,
  SandboxMessage,
  SandboxReceiver,
  SandboxReceiverChange,
  SecretRotation,
  SenderId,
  SentVerification,
  SignIn,
  SmsLink,
  SmsPreview,
  SmsStatistics,
  Suppression,
  SuppressionsAdded,
  TimelineAccepted,
  TimelineAttempt,
  TimelineCanceled,
  TimelineClaimed,
  TimelineDeferred,
  TimelineDelivery,
  TimelineEvent,
  TimelineQueued,
  TimelineRescheduled,
  TimelineScheduled,
  TimelineStatus,
  TimelineSuppressed,
  TimelineVerification,
  UsageReport,
  Verification,
  VerificationStatistics,
  Webhook,
  WebhookChange,
  WebhookDelivery,
  WebhookDeliveryDetail,
  WebhookRecovery,
  WebhookRecoveryPreview,
  WebhookStatistics,
  WebhookTest,
  WhatsAppContact,
  WhatsAppGroup,
  WhatsAppGroupChange,
  WhatsAppNumberCheck,
  WhatsAppPairingLink,
  WhatsAppQrCode,
  WhatsAppSession,
  WhatsAppSessionChange,
  WhatsAppSessionDetail,
  WhatsAppSessionFigures,
  WhatsAppSessionState
} from "./models.ts"

/** The version of this package. */
export const version = "0.1.0"

/** All resources of the API. */
export interface Resources {
  readonly account: AccountResource
  readonly apiKeys: ApiKeysResource
  readonly auth: AuthResource
  readonly email: EmailResource
  readonly history: HistoryResource
  readonly messages: MessagesResource
  readonly overview: OverviewResource
  readonly people: PeopleResource
  readonly phone: PhoneResource
  readonly recoveries: RecoveriesResource
  readonly requests: RequestsResource
  readonly sandboxFaults: SandboxFaultsResource
  readonly sandboxMessages: SandboxMessagesResource
  readonly sandboxReceiver: SandboxReceiverResource
  readonly sms: SmsResource
  readonly usage: UsageResource
  readonly verify: VerifyResource
  readonly webhooks: WebhooksResource
  readonly whatsapp: WhatsAppResource
}

/** Operations at `client.account`. */
export interface AccountResource {
  readonly logins: AccountLoginsResource
  readonly notifications: AccountNotificationsResource

  /** Read the account. Profile, plan and trial. */
  get(options?: RequestOptions): Promise<Account>

  /**
   * Delete the account. Irreversible. Keys and login sessions are refused at once, and nothing more is sent. All
   * data of the account is erased soon after. Its email address is free at once.
   */
  delete(body: AccountRemoval, options?: RequestOptions): Promise<void>

  /**
   * Change the profile. Absent fields keep their value. A new email address is pending until a person confirms it
   * there within 24 hours. The previous one gets a notice, and can undo the change for 7 days. The current address
   * withdraws a pending one.
   */
  updateProfile(body: ProfileChange, options?: RequestOptions): Promise<Profile>

  /**
   * Change the password. Login sessions, sign-ins to the console and API keys stay valid. DELETE
   * /v1/account/sessions ends other logins, and DELETE /v1/account/sign-ins all sign-ins. The owner gets a mail.
   */
  changePassword(body: PasswordChange, options?: RequestOptions): Promise<void>
}

/** Operations at `client.account.logins`. */
export interface AccountLoginsResource {
  /** List login sessions. Who is logged in, newest first: at most 100 sessions, never their tokens. */
  list(options?: RequestOptions): Promise<ReadonlyArray<LoginSession>>

  /**
   * End all other login sessions. Ends every login session but the caller's own. With an API key it ends all of
   * them.
   */
  endAll(options?: RequestOptions): Promise<void>

  /** End a login session. Every node refuses its token with 401 at once. The session may be the caller's own. */
  end(id: number | string, options?: RequestOptions): Promise<void>
}

/** Operations at `client.account.notifications`. */
export interface AccountNotificationsResource {
  /** Read the notification settings. The mails that the service sends to the account's owner. */
  get(options?: RequestOptions): Promise<NotificationSettings>

  /**
   * Change the notification settings. Absent fields keep their value. Mails about the password and the email
   * address cannot be switched off.
   */
  update(body: NotificationSettingsChange, options?: RequestOptions): Promise<NotificationSettings>
}

/** Operations at `client.apiKeys`. */
export interface ApiKeysResource {
  /**
   * List API keys. All keys of the account, newest first; a test key sees test keys only. An expired key stays in
   * the list for 90 days and does not count towards the limit.
   */
  list(options?: RequestOptions): Promise<ReadonlyArray<ApiKey>>

  /**
   * Create an API key. Only this response contains the key. If you lose it, revoke the key and create another one.
   * A key creates keys within its own rights and its own end only.
   */
  create(body: NewApiKey, options?: RequestOptions): Promise<CreatedApiKey>

  /** Read an API key. All fields except the secret. */
  get(id: number | string, options?: RequestOptions): Promise<ApiKey>

  /** Revoke an API key. Every node refuses the key with 401 at once. */
  revoke(id: number | string, options?: RequestOptions): Promise<void>

  /**
   * Rotate an API key. Creates a key with the name, mode, scopes and permissions of this one, which still works
   * during the overlap. Only this response contains the new key. The rules of creating keys hold: the caller needs
   * the rights of the key, and must not end before the new one. overlap_seconds: 0 ends the previous key at once. A
   * key is rotated once. During the overlap an account may have one key more than its plan allows.
   */
  rotate(id: number | string, body?: KeyRotation, options?: RequestOptions): Promise<RotatedApiKey>
}

/** Operations at `client.auth`. */
export interface AuthResource {
  /**
   * Register an account. Starts the 3-day trial on the Starter plan. The operator can close registration. In
   * production the owner gets a mail with a link, and the account sends nothing before the address is confirmed
   * there.
   */
  register(body: NewAccount, options?: RequestOptions): Promise<Login>

  /**
   * Log in. Returns a session token. Use it like an API key without scopes. An owner with a second factor sends its
   * code, too.
   */
  login(body: NewLogin, options?: RequestOptions): Promise<Login>

  /**
   * Request a password reset. Mails a token to the address if an account has it. The response is the same if none
   * has.
   */
  forgotPassword(body: PasswordResetRequest, options?: RequestOptions): Promise<void>

  /**
   * Set a new password. Requires the token from the mail, which works once and within an hour. Ends all login
   * sessions; API keys stay valid. If the address was not confirmed before, the token confirms it, and ends API
   * keys and second factors too.
   */
  resetPassword(body: PasswordReset, options?: RequestOptions): Promise<void>

  /** Log out. Ends the current login session. */
  logout(options?: RequestOptions): Promise<void>

  /**
   * Request another mail to confirm the address. Mails another link, at most five times an hour. No mail if the
   * address is confirmed.
   */
  sendConfirmation(options?: RequestOptions): Promise<void>
}

/** Operations at `client.email`. */
export interface EmailResource {
  readonly batches: EmailBatchesResource
  readonly domains: EmailDomainsResource
  readonly suppressions: EmailSuppressionsResource
  readonly templates: EmailTemplatesResource

  /**
   * Send an email. Queues one email to up to 50 addresses in each of to, cc and bcc. It needs html, text, or both;
   * a missing text is made from the HTML. {{variables}} are filled in from variables, and each needs a value or a
   * default. With template_id the email uses the stored template's current texts. Several addresses share one email
   * and one record; each event names its recipient.
   */
  send(body: NewEmail, options?: RequestOptions): Promise<AcceptedEmail>

  /**
   * List emails. Lists single emails and the recipients of batches, newest first or by sort. to matches any
   * recipient's address, including cc and bcc. from_date (inclusive) and to_date (exclusive) limit the time of
   * creation.
   */
  list(query?: EmailListParams, options?: RequestOptions): List<EmailMessage>

  /** Read an email. Returns the status of the email and of each recipient. */
  get(id: number | string, options?: RequestOptions): Promise<EmailMessageDetails>

  /**
   * Reschedule an email. Gives a scheduled email another time. An email of a batch has the time of its batch: 422;
   * reschedule the batch.
   */
  reschedule(id: number | string, body: Reschedule, options?: RequestOptions): Promise<EmailMessageDetails>

  /**
   * Read the content of an email. Returns the texts with their values filled in, before tracking, and the names of
   * the attachments. They are kept for a day after the email ended. A one-time code shows stars.
   */
  content(id: number | string, options?: RequestOptions): Promise<EmailMessageContent>

  /**
   * Read the source of an email. Returns the mail as this service hands it to the relay (RFC 5322), with the
   * recipient's own links and pixel, which count if they are opened after the mail was sent. An email to several
   * addresses has one copy for each: this is that of the first one. Missing are the DKIM-Signature, which is made
   * when the mail is sent, and the fields that relays add. No header names bcc. A one-time code shows stars. 410
   * once the texts are no longer kept.
   */
  source(id: number | string, options?: RequestOptions): Promise<Blob>

  /**
   * Cancel an email. Cancels the recipients whose mail is not being sent right now, and gives back their quota. If
   * there are none, nothing changes and the answer is 409 with the status.
   */
  cancel(id: number | string, options?: RequestOptions): Promise<EmailMessageDetails>

  /**
   * Send one email to many recipients. Queues up to 500 personalised messages. Every {{variable}} of subject, html
   * and text needs a value for every recipient, or a default: {{name|there}}. With template_id the batch uses the
   * stored template's current texts; later changes do not affect it. Each message carries List-Unsubscribe headers.
   */
  sendBulk(body: NewEmailBatch, options?: RequestOptions): Promise<AcceptedEmailBatch>
}

/** Operations at `client.email.batches`. */
export interface EmailBatchesResource {
  /** List batches. Lists batches with their counts, newest first or by sort. */
  list(query?: EmailBatchesListParams, options?: RequestOptions): List<EmailBatch>

  /** Read a batch. Returns the batch's status and counts. */
  get(batchId: string, options?: RequestOptions): Promise<EmailBatch>

  /** Reschedule a batch. Gives a scheduled batch another time. */
  reschedule(batchId: string, body: Reschedule, options?: RequestOptions): Promise<EmailBatch>

  /** List the recipients of a batch. Lists the recipients in the order of the request. */
  recipients(batchId: string, query?: EmailBatchesRecipientsParams, options?: RequestOptions): List<EmailBatchRecipient>

  /**
   * Send a batch of email again to failed recipients. Makes a new batch with the same content for the recipients
   * that an ended batch did not reach, and answers with it. A batch is sent again once: a repeated request answers
   * with the same new batch. The texts of a batch are kept for a day after its end.
   */
  resend(batchId: string, options?: RequestOptions): Promise<EmailBatch>

  /**
   * Cancel a batch. Cancels all recipients whose message is not being sent right now. After the answer no further
   * message begins; those being sent count as queued until they end, mostly within a second. Canceling again
   * changes nothing.
   */
  cancel(batchId: string, options?: RequestOptions): Promise<EmailBatch>
}

/** Operations at `client.email.domains`. */
export interface EmailDomainsResource {
  /** List sending domains. All domains of the account, newest first, with the records to publish. */
  list(options?: RequestOptions): Promise<ReadonlyArray<EmailDomain>>

  /**
   * Add a sending domain. Generates a DKIM key and returns the four DNS records to publish. The domain is pending
   * until DKIM and SPF are found. A sub-domain needs a separate entry.
   */
  create(body: NewEmailDomain, options?: RequestOptions): Promise<AddedEmailDomain>

  /** Read a sending domain. Includes the records to publish and the warnings of the last check. */
  get(id: number | string, options?: RequestOptions): Promise<EmailDomain>

  /**
   * Change a sending domain. Turns open and click tracking on or off for mail accepted afterwards. Both are off by
   * default. Absent fields keep their value.
   */
  update(id: number | string, body: EmailDomainChange, options?: RequestOptions): Promise<EmailDomain>

  /**
   * Delete a sending domain. Deletes its key too. Batches from it that have not started fail. Adding it again
   * creates a new key.
   */
  delete(id: number | string, options?: RequestOptions): Promise<void>

  /**
   * Check a sending domain. Looks the records up and returns for each what was found and what to do. The status is
   * 200 even if the domain stays pending. New records can take minutes to become visible. Repeated requests within
   * ten seconds return the same check.
   */
  verify(id: number | string, options?: RequestOptions): Promise<CheckedEmailDomain>
}

/** Operations at `client.email.suppressions`. */
export interface EmailSuppressionsResource {
  /** List suppressions. Lists the addresses that this account must not email, newest first. */
  list(query?: EmailSuppressionsListParams, options?: RequestOptions): List<Suppression>

  /**
   * Suppress an address. Also stops mail that was accepted before, unless it is being sent right now. An address
   * that is already suppressed also returns 201 and keeps its reason.
   */
  create(body: NewSuppression, options?: RequestOptions): Promise<Suppression>

  /**
   * Suppress many addresses. Adds up to 500 addresses, such as those of another provider's list. An address that
   * appears twice counts once. If one is invalid, none is added.
   */
  createMany(body: NewSuppressions, options?: RequestOptions): Promise<SuppressionsAdded>

  /** Read a suppression. The path holds the percent-encoded address. 404 means that the account may email it. */
  get(email: string, options?: RequestOptions): Promise<Suppression>

  /**
   * Delete a suppression. The path holds the percent-encoded address. New mail goes to the address again; messages
   * that were suppressed stay suppressed. A complaint cannot be deleted.
   */
  delete(email: string, options?: RequestOptions): Promise<void>
}

/** Operations at `client.email.templates`. */
export interface EmailTemplatesResource {
  readonly versions: EmailTemplatesVersionsResource

  /** List templates. Newest first, without html and text. Read a single template for these. */
  list(query?: EmailTemplatesListParams, options?: RequestOptions): List<EmailTemplateSummary>

  /**
   * Create a template. name, subject and html (or body_html) are required. An invalid {{ }} is refused with its
   * line and column.
   */
  create(body: NewEmailTemplate, options?: RequestOptions): Promise<EmailTemplate>

  /** Read a template. By its id. Its numeric_id is accepted too; the response then has a Deprecation header. */
  get(templateId: number | string, options?: RequestOptions): Promise<EmailTemplate>

  /**
   * Change a template. Absent fields keep their value. A text of null is derived from the HTML again. Mail accepted
   * before does not change. The texts that a change of subject, html or text replaces become a version.
   */
  update(templateId: number | string, body: EmailTemplateChange, options?: RequestOptions): Promise<EmailTemplate>

  /** Delete a template. Deletes its versions too. Mail accepted before is still sent. */
  delete(templateId: number | string, options?: RequestOptions): Promise<void>
}

/** Operations at `client.email.templates.versions`. */
export interface EmailTemplatesVersionsResource {
  /**
   * List a template's versions. The last 20 that the template had before, newest first, without html and text. Read
   * a single version for these.
   */
  list(templateId: number | string, options?: RequestOptions): Promise<ReadonlyArray<EmailTemplateVersionSummary>>

  /** Read a version. Returns the texts that a change of the template replaced. */
  get(templateId: number | string, versionId: number | string, options?: RequestOptions): Promise<EmailTemplateVersion>

  /**
   * Restore a version. Gives the template the subject, html and text of the version. The texts until then become a
   * version. The name stays.
   */
  restore(templateId: number | string, versionId: number | string, options?: RequestOptions): Promise<EmailTemplate>
}

/** Operations at `client.history`. */
export interface HistoryResource {
  /**
   * List messages of all channels. Lists emails, recipients of batches, SMS, WhatsApp messages and codes, newest
   * first, also those that were never sent. A key sees the channels of its scopes and permissions.
   * `metadata[KEY]=VALUE` selects by metadata. from_date is inclusive and to_date exclusive. The list has no total;
   * continue with cursor.
   */
  list(query?: HistoryListParams, options?: RequestOptions): List<MessageSummary>

  /**
   * Read the timeline of an email. Everything that happened to the message, oldest first: its acceptance, each
   * attempt with the peer's answer, each status with its source, each event, and what each webhook did with it.
   * `kind` tells the fields of `detail`.
   */
  emailTimeline(id: number | string, options?: RequestOptions): Promise<ReadonlyArray<TimelineAccepted | TimelineScheduled | TimelineRescheduled | TimelineSuppressed | TimelineQueued | TimelineClaimed | TimelineAttempt | TimelineDeferred | TimelineCanceled | TimelineStatus | TimelineEvent | TimelineDelivery>>

  /**
   * Read the timeline of an SMS. Everything that happened to the message, oldest first: its acceptance, each
   * attempt with the peer's answer, each status with its source, each event, and what each webhook did with it.
   * `kind` tells the fields of `detail`.
   */
  smsTimeline(id: number | string, options?: RequestOptions): Promise<ReadonlyArray<TimelineAccepted | TimelineScheduled | TimelineRescheduled | TimelineSuppressed | TimelineQueued | TimelineClaimed | TimelineAttempt | TimelineDeferred | TimelineCanceled | TimelineStatus | TimelineEvent | TimelineDelivery>>

  /**
   * Read the timeline of a WhatsApp message. Everything that happened to the message, oldest first: its acceptance,
   * each attempt with the peer's answer, each status with its source, each event, and what each webhook did with
   * it. `kind` tells the fields of `detail`.
   */
  whatsappTimeline(id: number | string, options?: RequestOptions): Promise<ReadonlyArray<TimelineAccepted | TimelineScheduled | TimelineRescheduled | TimelineSuppressed | TimelineQueued | TimelineClaimed | TimelineAttempt | TimelineDeferred | TimelineCanceled | TimelineStatus | TimelineEvent | TimelineDelivery>>

  /**
   * Read the timeline of a message with failover. Everything that happened to it and to the messages that its steps
   * became, oldest first. `message` is the path of the message that an entry is about; entries without it are about
   * the whole. A key sees the steps of the channels that it covers.
   */
  failoverTimeline(failoverId: string, options?: RequestOptions): Promise<ReadonlyArray<TimelineAccepted | TimelineScheduled | TimelineRescheduled | TimelineSuppressed | TimelineQueued | TimelineClaimed | TimelineAttempt | TimelineDeferred | TimelineCanceled | TimelineStatus | TimelineEvent | TimelineDelivery>>

  /**
   * Read the timeline of a one-time code. Everything that happened to a verification and to the messages that
   * carried its codes, oldest first. `message` is the path of the message that an entry is about; entries without
   * it are about the verification.
   */
  codeTimeline(verificationId: string, options?: RequestOptions): Promise<ReadonlyArray<TimelineAccepted | TimelineScheduled | TimelineRescheduled | TimelineSuppressed | TimelineQueued | TimelineClaimed | TimelineAttempt | TimelineDeferred | TimelineCanceled | TimelineStatus | TimelineEvent | TimelineDelivery | TimelineVerification>>
}

/** Operations at `client.messages`. */
export interface MessagesResource {
  /**
   * Send a message with failover. Tries one to five steps in order. The next step begins when a step fails for
   * good, or has not reached its until within its seconds after the hand-over. Every step is validated now, and a
   * key with scopes or permissions needs those of each channel. A trial sends only by its own channels. A WhatsApp
   * session that is not connected fails its step only when that begins. One event reports the end:
   * message.delivered, message.sent or message.failed; the events of the steps carry failover_id.
   */
  send(body: NewFailover, options?: RequestOptions): Promise<Failover>

  /**
   * Read a message with failover. Its status, and each step with its message, its times and its cost. A key with
   * scopes or permissions needs those of each channel.
   */
  get(failoverId: string, options?: RequestOptions): Promise<Failover>

  /** Reschedule a message with failover. Changes the time of a message that is still scheduled. */
  reschedule(failoverId: string, body: Reschedule, options?: RequestOptions): Promise<Failover>

  /**
   * Cancel a message with failover. Withdraws what no channel has handed over. The status is canceled when no step
   * was sent, else the best that was reached.
   */
  cancel(failoverId: string, options?: RequestOptions): Promise<Failover>
}

/** Operations at `client.overview`. */
export interface OverviewResource {
  /**
   * Read the numbers of messages by outcome. How many messages were accepted, sent, delivered and so on in each
   * hour or day, oldest first. Days begin at midnight of timezone. A message is counted in the hour of each
   * outcome, so an hour can have more delivered messages than sent ones. The default is the last 24 hours, or the
   * last 30 days by day. At most 31 days by hour, and 366 by day.
   */
  stats(query?: OverviewStatsParams, options?: RequestOptions): Promise<ReadonlyArray<MessageStatistics>>

  /**
   * Read what needs attention. Unhealthy webhooks, sessions and domains, a mail relay or carrier that a node cannot
   * reach, messages and codes that no node has tried to send in time, bounces and complaints, quotas, keys that
   * end, and more: the worst first, and of these the oldest. A key with scopes, or without the permission to list
   * webhooks or keys, does not see what is about them. An empty list means that nothing needs attention.
   */
  attention(options?: RequestOptions): Promise<ReadonlyArray<AttentionItem>>
}

/** Operations at `client.people`. */
export interface PeopleResource {
  /** List members. The people with a role in the account, oldest first. */
  members(options?: RequestOptions): Promise<ReadonlyArray<Member>>

  /**
   * List sign-ins. The browsers in which the account's owner is signed in to the console, newest first: at most
   * 100.
   */
  signIns(options?: RequestOptions): Promise<ReadonlyArray<SignIn>>

  /** End all sign-ins. Signs the account's owner out of every browser. */
  endSignIns(options?: RequestOptions): Promise<void>

  /** End a sign-in. Every node refuses its browser at the next request. */
  endSignIn(id: number | string, options?: RequestOptions): Promise<void>
}

/** Operations at `client.phone`. */
export interface PhoneResource {
  /**
   * Validate a phone number. Says whether a number is in a range that its country has assigned, and returns its
   * formats and line type. It does not contact the number, so it cannot say whether the number is in use.
   */
  validate(query: PhoneValidateParams, options?: RequestOptions): Promise<PhoneValidation>
}

/** Operations at `client.recoveries`. */
export interface RecoveriesResource {
  /**
   * Recover after an outage. Sends the failed and skipped deliveries of a time again, in the order of their events,
   * with the same event ids and bytes and a full set of attempts. The service queues a few hundred at a time, as
   * fast as the endpoint answers, so new events are hardly delayed. An event that was delivered since, by a
   * redelivery or an earlier recovery, is not sent again. One recovery at a time per webhook.
   */
  start(id: number | string, body: NewWebhookRecovery, options?: RequestOptions): Promise<WebhookRecovery>

  /**
   * Preview a recovery. Counts what a recovery would send now, up to 50,000 deliveries, and estimates how long it
   * takes.
   */
  preview(id: number | string, query: RecoveriesPreviewParams, options?: RequestOptions): Promise<WebhookRecoveryPreview>

  /** List recoveries. Newest first. They are kept for 30 days after their end. */
  list(id: number | string, query?: RecoveriesListParams, options?: RequestOptions): List<WebhookRecovery>

  /** Read a recovery. With its progress. It is completed when all its deliveries have ended. */
  get(id: number | string, recoveryId: number | string, options?: RequestOptions): Promise<WebhookRecovery>

  /**
   * Cancel a recovery. Queues no further events. The few hundred at most that are queued are sent, and still
   * counted.
   */
  cancel(id: number | string, recoveryId: number | string, options?: RequestOptions): Promise<WebhookRecovery>
}

/** Operations at `client.requests`. */
export interface RequestsResource {
  /**
   * List requests. The requests of the account, newest first: all that change something, and all that were refused.
   * A request appears about a second after its answer, and is kept for 7 days by default. Reads that succeed are
   * not kept, nor are those of this log, and no body is. from_date is inclusive and to_date exclusive. A filter
   * looks at the newest 100,000 requests of this time; among those that were refused, at 100,000 of them. The list
   * has no total; continue with cursor.
   */
  list(query?: RequestsListParams, options?: RequestOptions): List<RequestRecord>

  /**
   * Read a request. What became of a request: the error of its answer, or the path of what it has made. The id is
   * `X-Request-Id` of the answer, which is also `meta.request_id`.
   */
  get(requestId: string, options?: RequestOptions): Promise<RequestRecord>
}

/** Operations at `client.sandboxFaults`. */
export interface SandboxFaultsResource {
  /** List planned faults. The faults that no message of a test key has used yet, oldest first. Needs a test key. */
  list(options?: RequestOptions): Promise<ReadonlyArray<SandboxFault>>

  /**
   * Plan a fault. The next attempt to send a message of the fault's channel with a test key of the account takes
   * the oldest planned fault of this channel, and fails by it. At most 20 are planned at a time. One that no
   * message has used expires after an hour. Needs a test key.
   */
  plan(body: NewSandboxFault, options?: RequestOptions): Promise<SandboxFault>

  /** Delete planned faults. Deletes all faults that no message has used yet. Needs a test key. */
  clear(options?: RequestOptions): Promise<DeletedSandboxFaults>
}

/** Operations at `client.sandboxMessages`. */
export interface SandboxMessagesResource {
  /**
   * List what test keys sent. The messages as their recipients received them in the sandbox, newest first, at most
   * 1,000 of each channel. Needs a test key.
   */
  list(query?: SandboxMessagesListParams, options?: RequestOptions): List<SandboxMessage>

  /**
   * Clear what test keys sent. Empties the sandbox of the account. The records of the messages stay. Needs a test
   * key.
   */
  clear(options?: RequestOptions): Promise<DeletedSandboxMessages>
}

/** Operations at `client.sandboxReceiver`. */
export interface SandboxReceiverResource {
  /**
   * Get the webhook receiver of the sandbox. An address of this service for webhooks, to try them without an
   * endpoint. It answers 204 to every POST, and keeps nothing: the webhook's deliveries show what was sent. There
   * is one for each account where the sandbox is open.
   */
  get(options?: RequestOptions): Promise<SandboxReceiver>

  /**
   * Make the webhook receiver fail. With `failing: true` it answers 500 for the next five minutes, with `false` it
   * answers 204 again. Deliveries are retried as usual, and a webhook at this address is unhealthy as soon as one
   * of them has used up its attempts.
   */
  update(body: SandboxReceiverChange, options?: RequestOptions): Promise<SandboxReceiver>
}

/** Operations at `client.sms`. */
export interface SmsResource {
  readonly batches: SmsBatchesResource

  /**
   * Read SMS prices. The price of one segment to each country, ordered by name. No key is needed. A segment has 160
   * characters, or 153 if a message has several; 70 and 67 outside the GSM alphabet. The response has a weak ETag,
   * and any web page may read it.
   */
  pricing(query?: SmsPricingParams, options?: RequestOptions): List<{
    readonly country: string
    readonly code: string
    readonly dial_prefix: string
    readonly price_usd: number
    readonly currency: "USD"
  }>

  /**
   * Send an SMS. Queues one message of at most 1,600 characters and 10 segments. The current price of its country
   * and its segments applies and does not change later. A text with a character outside the GSM alphabet is sent in
   * UCS-2, with 70 characters in a single segment or 67 in each of several.
   */
  send(body: NewSms, options?: RequestOptions): Promise<AcceptedSms>

  /**
   * Preview an SMS. Returns the sender, the segments and the price of an SMS, and sends nothing. It is refused if
   * the SMS would be refused for its number, text or sender. The price may change before the SMS is sent; with a
   * test key it is 0.
   */
  preview(body: PreviewedSms, options?: RequestOptions): Promise<SmsPreview>

  /**
   * Send one SMS to many recipients. Queues up to 500 messages, all or none. Each {{variable}} of content needs a
   * value from every recipient or a default: {{name|there}}. Single messages go first: while they wait, at most
   * every fourth submit is one of these.
   */
  sendBulk(body: NewSmsBatch, options?: RequestOptions): Promise<AcceptedSmsBatch>

  /**
   * List SMS. Newest first, or in the order of sort. from_date is inclusive and to_date exclusive; both compare
   * with created_at. to is a phone number; its plus is optional.
   */
  list(query?: SmsListParams, options?: RequestOptions): List<Message>

  /** Read an SMS. Its status, segments and cost. */
  get(id: number | string, options?: RequestOptions): Promise<Message>

  /** Reschedule an SMS. Gives a scheduled message another time. */
  reschedule(id: number | string, body: Reschedule, options?: RequestOptions): Promise<Message>

  /**
   * Cancel an SMS. Cancels a message of which no part is being submitted or was submitted, and gives back its quota
   * and its cost. Otherwise nothing changes and the answer is 409 with the status.
   */
  cancel(id: number | string, options?: RequestOptions): Promise<Message>

  /**
   * List sender ids. The operator's sender ids. A message without a sender_id uses the first one. If the list is
   * empty, a message may use any sender_id, and the provider chooses one for a message without it.
   */
  senderIds(query?: SmsSenderIdsParams, options?: RequestOptions): List<SenderId>

  /**
   * Read the link to the carrier. The provider of the account's texts, and the state of its link if they go over
   * SMPP. The whole service has one link. Texts that are accepted while it is unbound wait. With a test key the
   * provider is the sandbox.
   */
  link(options?: RequestOptions): Promise<SmsLink>

  /**
   * Read how many texts were delivered, by country. Counts the newest texts of the account by the country of their
   * recipients: delivered, failed, and not known yet. Canceled texts do not count.
   */
  statistics(options?: RequestOptions): Promise<SmsStatistics>
}

/** Operations at `client.sms.batches`. */
export interface SmsBatchesResource {
  /** List batches of SMS. Newest first, or in the order of sort. Each has its counts. */
  list(query?: SmsBatchesListParams, options?: RequestOptions): List<MessageBatch>

  /** Read a batch of SMS. Its status and its counts. */
  get(batchId: string, options?: RequestOptions): Promise<MessageBatch>

  /** Reschedule a batch of SMS. Gives a scheduled batch another time. */
  reschedule(batchId: string, body: Reschedule, options?: RequestOptions): Promise<MessageBatch>

  /**
   * Send a batch of SMS again to failed recipients. Makes a new batch with the same content for the recipients that
   * an ended batch did not reach, and answers with it. A batch is sent again once: a repeated request answers with
   * the same new batch. A text that is no longer kept cannot be sent again.
   */
  resend(batchId: string, options?: RequestOptions): Promise<MessageBatch>

  /**
   * Cancel a batch of SMS. Cancels all messages of which no part is being submitted or was submitted. After the
   * answer no further message begins; those being sent count as queued until they end, mostly within a second.
   * Canceling again changes nothing.
   */
  cancel(batchId: string, options?: RequestOptions): Promise<MessageBatch>
}

/** Operations at `client.usage`. */
export interface UsageResource {
  /**
   * Read usage. The totals of a period, and the remaining quotas of the current month. from_date is inclusive and
   * to_date exclusive. They are days, or moments that mean their day, in UTC. The default is the current month. At
   * most 366 days. tag counts only the stored messages that have it, so not those that are older than messages are
   * kept.
   */
  current(query?: UsageCurrentParams, options?: RequestOptions): Promise<UsageReport>

  /**
   * Read usage by day. Oldest first. granularity groups days into weeks or months. from_date is inclusive and
   * to_date exclusive. They are days, or moments that mean their day, in UTC. The default is the current month. At
   * most 366 days. tag counts only the stored messages that have it, so not those that are older than messages are
   * kept.
   */
  daily(query?: UsageDailyParams, options?: RequestOptions): Promise<ReadonlyArray<DailyUsage>>

  /**
   * Read costs. The plan, and the usage that is priced separately, by month unless granularity says otherwise.
   * from_date is inclusive and to_date exclusive. They are days, or moments that mean their day, in UTC. The
   * default is the current month. At most 366 days.
   */
  billing(query?: UsageBillingParams, options?: RequestOptions): Promise<BillingReport>
}

/** Operations at `client.verify`. */
export interface VerifyResource {
  /**
   * Send a one-time code. Sends a code to a phone number or an email address. If a verification is pending for the
   * recipient, the new code replaces the old one under the same id. Its wrong attempts stay, and it lasts at most
   * 20 minutes in all: a request in the last of them begins a new one. A recipient gets at most 5 codes an hour, 20
   * a day and one every 30 seconds. Only the recipient sees the code.
   */
  send(body: NewVerification, options?: RequestOptions): Promise<SentVerification>

  /**
   * Check a one-time code. Checks a code against the last one sent, by id, by recipient, or by both, which have to
   * match. A code is accepted once. Five wrong codes end the verification, and the correct code is then refused
   * too.
   */
  check(body: CodeCheck, options?: RequestOptions): Promise<CheckedCode>

  /** List verifications. Newest first, without their codes. from_date is inclusive and to_date exclusive. */
  list(query?: VerifyListParams, options?: RequestOptions): List<Verification>

  /** Read a verification. Does not count as an attempt. */
  status(verificationId: string, options?: RequestOptions): Promise<Verification>

  /**
   * Read the figures of one-time codes. How many verifications began, how they ended, what their SMS cost and how
   * long people took, in all and by channel and country. The default is the last 7 days, and the most is 31 days.
   * Verifications are kept for 30 days after their end.
   */
  statistics(query?: VerifyStatisticsParams, options?: RequestOptions): Promise<VerificationStatistics>

  /**
   * List blocked prefixes. Prefixes of phone numbers that get no codes for 12 hours, because many were sent and
   * hardly any was entered (SMS pumping). The newest first.
   */
  blocks(options?: RequestOptions): Promise<ReadonlyArray<BlockedPrefix>>

  /** Release a blocked prefix. Its numbers get codes again. It is not blocked again before the end of the block. */
  release(prefix: string, options?: RequestOptions): Promise<void>
}

/** Operations at `client.webhooks`. */
export interface WebhooksResource {
  readonly deliveries: WebhooksDeliveriesResource

  /** List webhooks. Newest first. */
  list(query?: WebhooksListParams, options?: RequestOptions): List<Webhook>

  /** Create a webhook. Only this response shows the whole signing secret. Not part of the free trial. */
  create(body: NewWebhook, options?: RequestOptions): Promise<Webhook>

  /** Read a webhook. Shows the first characters of its secret. */
  get(id: number | string, options?: RequestOptions): Promise<Webhook>

  /**
   * Change a webhook. Omitted fields keep their values. headers replaces all headers; a value of ******** keeps the
   * stored one. A change makes an unhealthy webhook active and sets failure_count to 0, unless is_active is false.
   * So does is_active: true of every webhook.
   */
  update(id: number | string, body: WebhookChange, options?: RequestOptions): Promise<Webhook>

  /** Delete a webhook. Deletes its deliveries too. An attempt in flight is not repeated. */
  delete(id: number | string, options?: RequestOptions): Promise<void>

  /**
   * Rotate a webhook's secret. Only this response shows the whole new secret. During the overlap,
   * X-Service-Signature is signed with the new secret, X-Service-Signature-Previous with the previous one, and
   * webhook-signature has both signatures. An older previous secret stops signing at once. overlap_seconds: 0 ends
   * the previous secret at once.
   */
  rotateSecret(id: number | string, body?: SecretRotation, options?: RequestOptions): Promise<Webhook>

  /**
   * Test a webhook. Sends an example of the event now, with X-Service-Test: true, and responds with the delivery
   * after its one attempt. It ignores the webhook's list of events, and works while the webhook is disabled or
   * unhealthy, without changing that. A success sets failure_count to 0; a failure is not counted and not retried.
   */
  test(id: number | string, body: WebhookTest, options?: RequestOptions): Promise<WebhookDeliveryDetail>

  /**
   * Read the figures of a webhook. How many attempts succeeded and failed in each of the last 24 hours, how long
   * they took, and what waits. An attempt is counted in the hour of its outcome, within some seconds. POST
   * /v1/webhooks/{id}/test is not counted.
   */
  statistics(id: number | string, options?: RequestOptions): Promise<WebhookStatistics>
}

/** Operations at `client.webhooks.deliveries`. */
export interface WebhooksDeliveriesResource {
  /**
   * List deliveries. Newest first, or by sort, with the outcome of the last attempt. from_date (inclusive) and
   * to_date (exclusive) limit when the deliveries were created.
   */
  list(id: number | string, query?: WebhooksDeliveriesListParams, options?: RequestOptions): List<WebhookDelivery>

  /** Read a delivery. With its payload and every attempt. */
  get(id: number | string, deliveryId: number | string, options?: RequestOptions): Promise<WebhookDeliveryDetail>

  /**
   * Redeliver. Queues the event as a new delivery with the same event id, the same bytes and a full set of
   * attempts, whatever the outcome of this one. A test stays a test, with one attempt.
   */
  redeliver(id: number | string, deliveryId: number | string, options?: RequestOptions): Promise<WebhookDeliveryDetail>
}

/** Operations at `client.whatsapp`. */
export interface WhatsAppResource {
  readonly batches: WhatsAppBatchesResource
  readonly contacts: WhatsAppContactsResource
  readonly groups: WhatsAppGroupsResource
  readonly sessions: WhatsAppSessionsResource

  /**
   * Send a WhatsApp message. Queues one message. The connected session sends it within its rate limits. The status
   * becomes sent when WhatsApp's server acknowledges the message. If the recipient does not use WhatsApp, the
   * message fails and message.failed is published.
   */
  send(body: NewWhatsAppMessage, options?: RequestOptions): Promise<AcceptedWhatsAppMessage>

  /**
   * Send one WhatsApp message to many recipients. Queues up to 500 messages, all or none. Each {{variable}} of a
   * text or a caption needs a value from every recipient or a default: {{name|there}}. Single messages of the
   * session go first.
   */
  sendBulk(body: NewWhatsAppBatch, options?: RequestOptions): Promise<AcceptedWhatsAppBatch>

  /**
   * List WhatsApp messages. Newest first, or in the order of sort. from_date is inclusive and to_date exclusive;
   * both compare with created_at. to is a phone number or the WhatsApp id of a group, as in a send request.
   */
  list(query?: WhatsAppListParams, options?: RequestOptions): List<Message>

  /** Read a WhatsApp message. Its status, content and times. */
  get(id: number | string, options?: RequestOptions): Promise<Message>

  /** Reschedule a WhatsApp message. Gives a scheduled message another time. */
  reschedule(id: number | string, body: Reschedule, options?: RequestOptions): Promise<Message>

  /**
   * Cancel a WhatsApp message. Cancels a message that was not written to WhatsApp. Otherwise nothing changes and
   * the answer is 409 with the status.
   */
  cancel(id: number | string, options?: RequestOptions): Promise<Message>

  /**
   * Fetch the file of a WhatsApp message. Downloads the file from WhatsApp, decrypts it and answers with its bytes
   * and type; up to 100 MiB. 404 if the message has no file.
   */
  media(id: number | string, options?: RequestOptions): Promise<Blob>
}

/** Operations at `client.whatsapp.batches`. */
export interface WhatsAppBatchesResource {
  /** List batches of WhatsApp messages. Newest first, or in the order of sort. Each has its counts. */
  list(query?: WhatsAppBatchesListParams, options?: RequestOptions): List<MessageBatch>

  /** Read a batch of WhatsApp messages. Its status and its counts. */
  get(batchId: string, options?: RequestOptions): Promise<MessageBatch>

  /** Reschedule a batch of WhatsApp messages. Gives a scheduled batch another time. */
  reschedule(batchId: string, body: Reschedule, options?: RequestOptions): Promise<MessageBatch>

  /**
   * Send a batch of WhatsApp messages again to failed recipients. Makes a new batch with the same content for the
   * recipients that an ended batch did not reach, and answers with it. A batch is sent again once: a repeated
   * request answers with the same new batch. A text that is no longer kept cannot be sent again.
   */
  resend(batchId: string, options?: RequestOptions): Promise<MessageBatch>

  /**
   * Cancel a batch of WhatsApp messages. Cancels all messages that are not being written to WhatsApp. Those being
   * written count as queued until WhatsApp acknowledges them. Canceling again changes nothing.
   */
  cancel(batchId: string, options?: RequestOptions): Promise<MessageBatch>
}

/** Operations at `client.whatsapp.contacts`. */
export interface WhatsAppContactsResource {
  /**
   * List WhatsApp contacts. Newest first. q searches names and numbers. The service learns contacts from the phone
   * and from messages.
   */
  list(query?: WhatsAppContactsListParams, options?: RequestOptions): List<WhatsAppContact>

  /**
   * Check a number. Whether a number has WhatsApp. The request goes over the given session, or over any connected
   * one. The answer is cached for a day, or for an hour if the number has no WhatsApp. is_whatsapp_user is null if
   * WhatsApp does not answer.
   */
  check(phone: string, query?: WhatsAppContactsCheckParams, options?: RequestOptions): Promise<WhatsAppNumberCheck>
}

/** Operations at `client.whatsapp.groups`. */
export interface WhatsAppGroupsResource {
  /** List WhatsApp groups. The groups of the sessions, newest first. */
  list(query?: WhatsAppGroupsListParams, options?: RequestOptions): List<WhatsAppGroup>

  /** Create a WhatsApp group. The session's number becomes its admin. Participants without WhatsApp are left out. */
  create(body: NewWhatsAppGroup, options?: RequestOptions): Promise<WhatsAppGroup>

  /**
   * Read a WhatsApp group. With its invitation link if WhatsApp shows it to the session: always to admins, to
   * others if the group allows it.
   */
  get(id: number | string, options?: RequestOptions): Promise<WhatsAppGroup>

  /**
   * Change a WhatsApp group. Changes the name, then the description, then the participants. WhatsApp makes each
   * change separately, so a refusal does not undo the earlier ones. Numbers that WhatsApp does not add or remove
   * are left out: compare the participants of the answer.
   */
  update(id: number | string, body: WhatsAppGroupChange, options?: RequestOptions): Promise<WhatsAppGroup>
}

/** Operations at `client.whatsapp.sessions`. */
export interface WhatsAppSessionsResource {
  /** List WhatsApp sessions. Newest first. */
  list(query?: WhatsAppSessionsListParams, options?: RequestOptions): List<WhatsAppSession>

  /**
   * Create a WhatsApp session. Answers with a code to scan with the phone. The first code is valid for 60 seconds,
   * each later one for about 20. The event session.qr_updated brings the next code. After 160 seconds without a
   * scan the session fails.
   */
  create(body?: NewWhatsAppSession, options?: RequestOptions): Promise<CreatedWhatsAppSession>

  /** Read a WhatsApp session. Includes the reason if the session is disconnected or failed. */
  get(id: number | string, options?: RequestOptions): Promise<WhatsAppSessionDetail>

  /** Rename a WhatsApp session. Changes its name. */
  update(id: number | string, body: WhatsAppSessionChange, options?: RequestOptions): Promise<WhatsAppSessionDetail>

  /**
   * Delete a WhatsApp session. Logs the device out and erases its credentials. To pair the phone again, create a
   * new session.
   */
  delete(id: number | string, options?: RequestOptions): Promise<void>

  /**
   * List the states of a WhatsApp session. Its states of the last 30 days, and the one that it had when they began,
   * newest first. Each ends when the next one begins; the first is the current one. The list has no total; continue
   * with cursor.
   */
  states(id: number | string, query?: WhatsAppSessionsStatesParams, options?: RequestOptions): List<WhatsAppSessionState>

  /**
   * Read the QR code. Answers with the current code of an unpaired session. A failed session starts over. A paired
   * session tries to connect first, and answers 409 if it succeeds.
   */
  qr(id: number | string, options?: RequestOptions): Promise<WhatsAppQrCode>

  /**
   * Pair with a code. Answers with a code to type into the phone (Linked devices, Link with phone number instead).
   * It works instead of the QR code, which changes.
   */
  pairingCode(id: number | string, body: PairingRequest, options?: RequestOptions): Promise<PairingCode>

  /**
   * Make a pairing link. Answers with the address of a page for the person who holds the phone. For 10 minutes it
   * shows the codes of this session to everyone who has the address, without a sign-in.
   */
  pairingLink(id: number | string, options?: RequestOptions): Promise<WhatsAppPairingLink>

  /**
   * Reconnect a WhatsApp session. Connects a disconnected or failed session now instead of after its pause. The
   * answer has the state that it reached within 20 seconds. A session without a phone shows codes again.
   */
  reconnect(id: number | string, options?: RequestOptions): Promise<WhatsAppSessionDetail>

  /**
   * Log a WhatsApp session out. Removes the device from the phone and erases its credentials. The session stays, is
   * failed with the reason logged_out, and can be paired again. Its waiting messages fail. Without a phone, nothing
   * changes.
   */
  logOut(id: number | string, options?: RequestOptions): Promise<WhatsAppSessionDetail>

  /**
   * Read the figures of a WhatsApp session. How many messages the session has sent in the last minute and day, what
   * the limits are, and how many messages wait for their turn. Also since when it has its status, and why.
   */
  figures(id: number | string, options?: RequestOptions): Promise<WhatsAppSessionFigures>
}

export interface UsageCurrentParams {
  readonly from_date?: string | undefined
  readonly to_date?: string | undefined
  /** A tag that the message has. Repeated, it must have all of them */
  readonly tag?: string | ReadonlyArray<string> | undefined
}

export interface UsageDailyParams {
  readonly from_date?: string | undefined
  readonly to_date?: string | undefined
  /** A tag that the message has. Repeated, it must have all of them */
  readonly tag?: string | ReadonlyArray<string> | undefined
  readonly granularity?: "day" | "week" | "month" | undefined
}

export interface UsageBillingParams {
  readonly from_date?: string | undefined
  readonly to_date?: string | undefined
  readonly granularity?: "day" | "week" | "month" | undefined
}

export interface OverviewStatsParams {
  readonly from_date?: string | undefined
  readonly to_date?: string | undefined
  readonly granularity?: "hour" | "day" | undefined
  readonly timezone?: "UTC" | "America/New_York" | "America/Los_Angeles" | "America/Chicago" | "Europe/London" | "Europe/Berlin" | "Europe/Paris" | "Asia/Tokyo" | "Asia/Shanghai" | "Asia/Dubai" | "Africa/Nairobi" | "Africa/Kigali" | "Africa/Lagos" | "Australia/Sydney" | "Pacific/Auckland" | undefined
  readonly channel?: "email" | "sms" | "whatsapp" | undefined
}

export interface RequestsListParams {
  readonly per_page?: number | undefined
  /** `meta.next_cursor` of the page before, with the same filters and order. `page` is left out. */
  readonly cursor?: string | undefined
  readonly request_id?: string | undefined
  /** A status such as 422, or a class such as 4xx */
  readonly status?: string | undefined
  /** `error.type` of the answer */
  readonly error_type?: string | undefined
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | undefined
  /** The beginning of the path */
  readonly path?: string | undefined
  readonly key_id?: number | undefined
  /**
   * An email address, or a phone number with its country code: the sends to it that were refused. The log has
   * hashes of the first 10 recipients of such a request, if its body has at most 256 KiB
   */
  readonly recipient?: string | undefined
  readonly from_date?: string | undefined
  readonly to_date?: string | undefined
}

export interface HistoryListParams {
  readonly per_page?: number | undefined
  /** `meta.next_cursor` of the page before, with the same filters and order. `page` is left out. */
  readonly cursor?: string | undefined
  readonly channel?: "email" | "sms" | "whatsapp" | undefined
  readonly status?: "scheduled" | "queued" | "sent" | "delivered" | "opened" | "clicked" | "read" | "received" | "bounced" | "complained" | "failed" | "suppressed" | "canceled" | undefined
  /** `out`: the account sent it. `in`: it was received */
  readonly direction?: "in" | "out" | undefined
  /** The beginning of a recipient, or of the sender of a received message; the plus of a phone number may be missing */
  readonly to?: string | undefined
  readonly batch_id?: string | undefined
  readonly session_id?: number | undefined
  /** The SMS and WhatsApp messages that failed with this `error_code`. It reads the failed messages only */
  readonly error_code?: string | undefined
  /** A domain name */
  readonly domain?: string | undefined
  readonly key_id?: number | undefined
  /** A tag that each message has. Repeated: all of them */
  readonly tag?: string | ReadonlyArray<string> | undefined
  /**
   * Words, each the beginning of a word in the recipients, the subject or the first 200 characters of the text;
   * case and accents do not matter. A phone number is also found by its last digits
   */
  readonly q?: string | undefined
  readonly from_date?: string | undefined
  readonly to_date?: string | undefined
}

export interface EmailListParams {
  readonly page?: number | undefined
  readonly per_page?: number | undefined
  /** `meta.next_cursor` of the page before, with the same filters and order. `page` is left out. */
  readonly cursor?: string | undefined
  readonly sort?: "created_at" | "-created_at" | undefined
  /** A tag that the message has. Repeated, it must have all of them */
  readonly tag?: string | ReadonlyArray<string> | undefined
  readonly status?: "scheduled" | "queued" | "sent" | "delivered" | "opened" | "clicked" | "bounced" | "complained" | "failed" | "suppressed" | "canceled" | undefined
  /** An email address */
  readonly to?: string | undefined
  readonly from_date?: string | undefined
  readonly to_date?: string | undefined
  readonly batch_id?: string | undefined
}

export interface EmailBatchesListParams {
  readonly page?: number | undefined
  readonly per_page?: number | undefined
  /** `meta.next_cursor` of the page before, with the same filters and order. `page` is left out. */
  readonly cursor?: string | undefined
  readonly sort?: "created_at" | "-created_at" | undefined
  /** A tag that the message has. Repeated, it must have all of them */
  readonly tag?: string | ReadonlyArray<string> | undefined
  readonly status?: "scheduled" | "queued" | "processing" | "completed" | "failed" | "canceled" | undefined
}

export interface EmailBatchesRecipientsParams {
  readonly page?: number | undefined
  readonly per_page?: number | undefined
  /** `meta.next_cursor` of the page before, with the same filters and order. `page` is left out. */
  readonly cursor?: string | undefined
  readonly status?: "scheduled" | "queued" | "sent" | "delivered" | "opened" | "clicked" | "bounced" | "complained" | "failed" | "suppressed" | "canceled" | undefined
}

export interface EmailSuppressionsListParams {
  readonly page?: number | undefined
  readonly per_page?: number | undefined
  /** `meta.next_cursor` of the page before, with the same filters and order. `page` is left out. */
  readonly cursor?: string | undefined
  readonly reason?: "unsubscribe" | "bounce" | "complaint" | "manual" | undefined
  /** An email address */
  readonly email?: string | undefined
}

export interface SmsPricingParams {
  readonly country?: string | undefined
}

export interface SmsBatchesListParams {
  readonly page?: number | undefined
  readonly per_page?: number | undefined
  /** `meta.next_cursor` of the page before, with the same filters and order. `page` is left out. */
  readonly cursor?: string | undefined
  readonly sort?: "created_at" | "-created_at" | undefined
  /** A tag that the message has. Repeated, it must have all of them */
  readonly tag?: string | ReadonlyArray<string> | undefined
  readonly status?: "scheduled" | "queued" | "processing" | "completed" | "failed" | "canceled" | undefined
}

export interface SmsListParams {
  readonly page?: number | undefined
  readonly per_page?: number | undefined
  /** `meta.next_cursor` of the page before, with the same filters and order. `page` is left out. */
  readonly cursor?: string | undefined
  readonly sort?: "created_at" | "-created_at" | undefined
  /** A tag that the message has. Repeated, it must have all of them */
  readonly tag?: string | ReadonlyArray<string> | undefined
  readonly status?: "scheduled" | "queued" | "sent" | "delivered" | "read" | "failed" | "received" | "canceled" | undefined
  readonly direction?: "in" | "out" | undefined
  /** A phone number with its country code; the + may be left out */
  readonly to?: string | undefined
  readonly from_date?: string | undefined
  readonly to_date?: string | undefined
  readonly batch_id?: string | undefined
}

export interface SmsSenderIdsParams {
  readonly page?: number | undefined
  readonly per_page?: number | undefined
  /** `meta.next_cursor` of the page before, with the same filters and order. `page` is left out. */
  readonly cursor?: string | undefined
}

export interface PhoneValidateParams {
  readonly number: string
}

export interface VerifyListParams {
  readonly page?: number | undefined
  readonly per_page?: number | undefined
  /** `meta.next_cursor` of the page before, with the same filters and order. `page` is left out. */
  readonly cursor?: string | undefined
  readonly status?: "pending" | "approved" | "expired" | "max_attempts" | undefined
  readonly channel?: "sms" | "whatsapp" | "email" | undefined
  /** A phone number with its country code, or an email address */
  readonly to?: string | undefined
  readonly from_date?: string | undefined
  readonly to_date?: string | undefined
}

export interface VerifyStatisticsParams {
  readonly from_date?: string | undefined
  readonly to_date?: string | undefined
}

export interface EmailTemplatesListParams {
  readonly page?: number | undefined
  readonly per_page?: number | undefined
  /** `meta.next_cursor` of the page before, with the same filters and order. `page` is left out. */
  readonly cursor?: string | undefined
}

export interface WhatsAppSessionsListParams {
  readonly page?: number | undefined
  readonly per_page?: number | undefined
  /** `meta.next_cursor` of the page before, with the same filters and order. `page` is left out. */
  readonly cursor?: string | undefined
  readonly status?: "pending" | "connected" | "disconnected" | "failed" | undefined
}

export interface WhatsAppSessionsStatesParams {
  readonly per_page?: number | undefined
  /** `meta.next_cursor` of the page before, with the same filters and order. `page` is left out. */
  readonly cursor?: string | undefined
}

export interface WhatsAppBatchesListParams {
  readonly page?: number | undefined
  readonly per_page?: number | undefined
  /** `meta.next_cursor` of the page before, with the same filters and order. `page` is left out. */
  readonly cursor?: string | undefined
  readonly sort?: "created_at" | "-created_at" | undefined
  /** A tag that the message has. Repeated, it must have all of them */
  readonly tag?: string | ReadonlyArray<string> | undefined
  readonly status?: "scheduled" | "queued" | "processing" | "completed" | "failed" | "canceled" | undefined
}

export interface WhatsAppListParams {
  readonly page?: number | undefined
  readonly per_page?: number | undefined
  /** `meta.next_cursor` of the page before, with the same filters and order. `page` is left out. */
  readonly cursor?: string | undefined
  readonly sort?: "created_at" | "-created_at" | undefined
  /** A tag that the message has. Repeated, it must have all of them */
  readonly tag?: string | ReadonlyArray<string> | undefined
  readonly status?: "scheduled" | "queued" | "sent" | "delivered" | "read" | "failed" | "received" | "canceled" | undefined
  readonly direction?: "in" | "out" | undefined
  /** A phone number, or the id of a group, which ends in @g.us */
  readonly to?: string | undefined
  readonly from_date?: string | undefined
  readonly to_date?: string | undefined
  readonly batch_id?: string | undefined
  readonly session_id?: number | undefined
  /** A phone number, or the id of a group, which ends in @g.us */
  readonly chat?: string | undefined
}

export interface WhatsAppContactsListParams {
  readonly page?: number | undefined
  readonly per_page?: number | undefined
  /** `meta.next_cursor` of the page before, with the same filters and order. `page` is left out. */
  readonly cursor?: string | undefined
  readonly session_id?: number | undefined
  readonly q?: string | undefined
}

export interface WhatsAppContactsCheckParams {
  readonly session_id?: number | undefined
}

export interface WhatsAppGroupsListParams {
  readonly page?: number | undefined
  readonly per_page?: number | undefined
  /** `meta.next_cursor` of the page before, with the same filters and order. `page` is left out. */
  readonly cursor?: string | undefined
  readonly session_id?: number | undefined
}

export interface WebhooksListParams {
  readonly page?: number | undefined
  readonly per_page?: number | undefined
  /** `meta.next_cursor` of the page before, with the same filters and order. `page` is left out. */
  readonly cursor?: string | undefined
}

export interface WebhooksDeliveriesListParams {
  readonly page?: number | undefined
  readonly per_page?: number | undefined
  /** `meta.next_cursor` of the page before, with the same filters and order. `page` is left out. */
  readonly cursor?: string | undefined
  readonly sort?: "created_at" | "-created_at" | undefined
  readonly status?: "pending" | "retrying" | "delivered" | "failed" | "skipped" | undefined
  /** The event's name; a name with a channel, for example sms.delivered, matches all channels */
  readonly event?: string | undefined
  readonly event_id?: string | undefined
  /** The answer to the last attempt: a status such as 503, or a class such as 5xx */
  readonly response_code?: string | undefined
  /**
   * A message that the events are about: its channel and id, such as email/12, or the id of a message with failover
   * or of a verification. It is found as long as its events are kept
   */
  readonly message?: string | undefined
  readonly from_date?: string | undefined
  readonly to_date?: string | undefined
}

export interface RecoveriesPreviewParams {
  readonly since: string
  readonly until?: string | undefined
  /** Only deliveries of this event; a name with a channel, for example sms.delivered, matches all channels */
  readonly event?: string | undefined
  /** Only deliveries with this answer to the last attempt: a status such as 503, or a class such as 5xx */
  readonly response_code?: string | undefined
  readonly status?: "failed" | "skipped" | undefined
}

export interface RecoveriesListParams {
  readonly page?: number | undefined
  readonly per_page?: number | undefined
  /** `meta.next_cursor` of the page before, with the same filters and order. `page` is left out. */
  readonly cursor?: string | undefined
}

export interface SandboxMessagesListParams {
  readonly page?: number | undefined
  readonly per_page?: number | undefined
  /** `meta.next_cursor` of the page before, with the same filters and order. `page` is left out. */
  readonly cursor?: string | undefined
  readonly channel?: "email" | "sms" | "whatsapp" | undefined
  /** An address or number; of an address, a part will do */
  readonly to?: string | undefined
  /** Seconds to wait for the first message */
  readonly wait?: number | undefined
}

/** Every operation at its place. */
export const operations: OperationTable = {
  account: {
    get: "GET /v1/account data",
    delete: "DELETE /v1/account none body",
    updateProfile: "PUT /v1/account/profile data body",
    changePassword: "PUT /v1/account/password none body",
    logins: {
      list: "GET /v1/account/sessions data",
      endAll: "DELETE /v1/account/sessions none",
      end: "DELETE /v1/account/sessions/{id} none"
    },
    notifications: {
      get: "GET /v1/account/notifications data",
      update: "PUT /v1/account/notifications data body"
    }
  },
  apiKeys: {
    list: "GET /v1/api-keys data",
    create: "POST /v1/api-keys data body key",
    get: "GET /v1/api-keys/{id} data",
    revoke: "DELETE /v1/api-keys/{id} none",
    rotate: "POST /v1/api-keys/{id}/rotate data body key"
  },
  auth: {
    register: "POST /v1/auth/register data body",
    login: "POST /v1/auth/login data body",
    forgotPassword: "POST /v1/auth/password/forgot none body",
    resetPassword: "POST /v1/auth/password/reset none body",
    logout: "POST /v1/auth/logout none key",
    sendConfirmation: "POST /v1/auth/confirmation none key"
  },
  email: {
    send: "POST /v1/email/send data body key",
    list: "GET /v1/email/messages list query",
    get: "GET /v1/email/messages/{id} data",
    reschedule: "PATCH /v1/email/messages/{id} data body",
    content: "GET /v1/email/messages/{id}/content data",
    source: "GET /v1/email/messages/{id}/source blob",
    cancel: "POST /v1/email/messages/{id}/cancel data key",
    sendBulk: "POST /v1/email/send-bulk data body key",
    batches: {
      list: "GET /v1/email/batches list query",
      get: "GET /v1/email/batches/{batch_id} data",
      reschedule: "PATCH /v1/email/batches/{batch_id} data body",
      recipients: "GET /v1/email/batches/{batch_id}/recipients list query",
      resend: "POST /v1/email/batches/{batch_id}/resend data key",
      cancel: "POST /v1/email/batches/{batch_id}/cancel data key"
    },
    domains: {
      list: "GET /v1/email/domains data",
      create: "POST /v1/email/domains data body key",
      get: "GET /v1/email/domains/{id} data",
      update: "PUT /v1/email/domains/{id} data body",
      delete: "DELETE /v1/email/domains/{id} none",
      verify: "POST /v1/email/domains/{id}/verify data key"
    },
    suppressions: {
      list: "GET /v1/email/suppressions list query",
      create: "POST /v1/email/suppressions data body key",
      createMany: "POST /v1/email/suppress-bulk data body key",
      get: "GET /v1/email/suppressions/{email} data",
      delete: "DELETE /v1/email/suppressions/{email} none"
    },
    templates: {
      list: "GET /v1/email/templates list query",
      create: "POST /v1/email/templates data body key",
      get: "GET /v1/email/templates/{template_id} data",
      update: "PUT /v1/email/templates/{template_id} data body",
      delete: "DELETE /v1/email/templates/{template_id} none",
      versions: {
        list: "GET /v1/email/templates/{template_id}/versions data",
        get: "GET /v1/email/templates/{template_id}/versions/{version_id} data",
        restore: "POST /v1/email/templates/{template_id}/versions/{version_id}/restore data key"
      }
    }
  },
  history: {
    list: "GET /v1/messages list query",
    emailTimeline: "GET /v1/email/messages/{id}/timeline data",
    smsTimeline: "GET /v1/sms/messages/{id}/timeline data",
    whatsappTimeline: "GET /v1/whatsapp/messages/{id}/timeline data",
    failoverTimeline: "GET /v1/messages/{failover_id}/timeline data",
    codeTimeline: "GET /v1/verify/status/{verification_id}/timeline data"
  },
  messages: {
    send: "POST /v1/messages data body key",
    get: "GET /v1/messages/{failover_id} data",
    reschedule: "PATCH /v1/messages/{failover_id} data body",
    cancel: "POST /v1/messages/{failover_id}/cancel data key"
  },
  overview: {
    stats: "GET /v1/account/stats data query",
    attention: "GET /v1/account/attention data"
  },
  people: {
    members: "GET /v1/account/members data",
    signIns: "GET /v1/account/sign-ins data",
    endSignIns: "DELETE /v1/account/sign-ins none",
    endSignIn: "DELETE /v1/account/sign-ins/{id} none"
  },
  phone: {
    validate: "GET /v1/phone/validate data query"
  },
  recoveries: {
    start: "POST /v1/webhooks/{id}/recover data body key",
    preview: "GET /v1/webhooks/{id}/recover data query",
    list: "GET /v1/webhooks/{id}/recoveries list query",
    get: "GET /v1/webhooks/{id}/recoveries/{recovery_id} data",
    cancel: "POST /v1/webhooks/{id}/recoveries/{recovery_id}/cancel data key"
  },
  requests: {
    list: "GET /v1/requests list query",
    get: "GET /v1/requests/{request_id} data"
  },
  sandboxFaults: {
    list: "GET /v1/sandbox/faults data",
    plan: "POST /v1/sandbox/faults data body key",
    clear: "DELETE /v1/sandbox/faults data"
  },
  sandboxMessages: {
    list: "GET /v1/sandbox/messages list query",
    clear: "DELETE /v1/sandbox/messages data"
  },
  sandboxReceiver: {
    get: "GET /v1/sandbox/receiver data",
    update: "PUT /v1/sandbox/receiver data body"
  },
  sms: {
    pricing: "GET /v1/sms/pricing list query",
    send: "POST /v1/sms/send data body key",
    preview: "POST /v1/sms/preview data body key",
    sendBulk: "POST /v1/sms/send-bulk data body key",
    list: "GET /v1/sms/messages list query",
    get: "GET /v1/sms/messages/{id} data",
    reschedule: "PATCH /v1/sms/messages/{id} data body",
    cancel: "POST /v1/sms/messages/{id}/cancel data key",
    senderIds: "GET /v1/sms/sender-ids list query",
    link: "GET /v1/sms/link data",
    statistics: "GET /v1/sms/statistics data",
    batches: {
      list: "GET /v1/sms/batches list query",
      get: "GET /v1/sms/batches/{batch_id} data",
      reschedule: "PATCH /v1/sms/batches/{batch_id} data body",
      resend: "POST /v1/sms/batches/{batch_id}/resend data key",
      cancel: "POST /v1/sms/batches/{batch_id}/cancel data key"
    }
  },
  usage: {
    current: "GET /v1/account/usage data query",
    daily: "GET /v1/account/usage/daily data query",
    billing: "GET /v1/account/billing data query"
  },
  verify: {
    send: "POST /v1/verify/send data body key",
    check: "POST /v1/verify/check data body key",
    list: "GET /v1/verify/status list query",
    status: "GET /v1/verify/status/{verification_id} data",
    statistics: "GET /v1/verify/statistics data query",
    blocks: "GET /v1/verify/blocks data",
    release: "DELETE /v1/verify/blocks/{prefix} none"
  },
  webhooks: {
    list: "GET /v1/webhooks list query",
    create: "POST /v1/webhooks data body key",
    get: "GET /v1/webhooks/{id} data",
    update: "PUT /v1/webhooks/{id} data body",
    delete: "DELETE /v1/webhooks/{id} none",
    rotateSecret: "POST /v1/webhooks/{id}/rotate-secret data body key",
    test: "POST /v1/webhooks/{id}/test data body key",
    statistics: "GET /v1/webhooks/{id}/statistics data",
    deliveries: {
      list: "GET /v1/webhooks/{id}/deliveries list query",
      get: "GET /v1/webhooks/{id}/deliveries/{delivery_id} data",
      redeliver: "POST /v1/webhooks/{id}/deliveries/{delivery_id}/redeliver data key"
    }
  },
  whatsapp: {
    send: "POST /v1/whatsapp/send data body key",
    sendBulk: "POST /v1/whatsapp/send-bulk data body key",
    list: "GET /v1/whatsapp/messages list query",
    get: "GET /v1/whatsapp/messages/{id} data",
    reschedule: "PATCH /v1/whatsapp/messages/{id} data body",
    cancel: "POST /v1/whatsapp/messages/{id}/cancel data key",
    media: "GET /v1/whatsapp/messages/{id}/media blob",
    batches: {
      list: "GET /v1/whatsapp/batches list query",
      get: "GET /v1/whatsapp/batches/{batch_id} data",
      reschedule: "PATCH /v1/whatsapp/batches/{batch_id} data body",
      resend: "POST /v1/whatsapp/batches/{batch_id}/resend data key",
      cancel: "POST /v1/whatsapp/batches/{batch_id}/cancel data key"
    },
    contacts: {
      list: "GET /v1/whatsapp/contacts list query",
      check: "GET /v1/whatsapp/contacts/{phone}/check data query"
    },
    groups: {
      list: "GET /v1/whatsapp/groups list query",
      create: "POST /v1/whatsapp/groups data body key",
      get: "GET /v1/whatsapp/groups/{id} data",
      update: "PUT /v1/whatsapp/groups/{id} data body"
    },
    sessions: {
      list: "GET /v1/whatsapp/sessions list query",
      create: "POST /v1/whatsapp/sessions json body key",
      get: "GET /v1/whatsapp/sessions/{id} json",
      update: "PUT /v1/whatsapp/sessions/{id} json body",
      delete: "DELETE /v1/whatsapp/sessions/{id} none",
      states: "GET /v1/whatsapp/sessions/{id}/states list query",
      qr: "GET /v1/whatsapp/sessions/{id}/qr json",
      pairingCode: "POST /v1/whatsapp/sessions/{id}/pairing-code data body key",
      pairingLink: "POST /v1/whatsapp/sessions/{id}/pairing-link data key",
      reconnect: "POST /v1/whatsapp/sessions/{id}/reconnect data key",
      logOut: "POST /v1/whatsapp/sessions/{id}/logout data key",
      figures: "GET /v1/whatsapp/sessions/{id}/figures data"
    }
  }
}
