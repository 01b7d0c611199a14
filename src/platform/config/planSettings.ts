import * as Setting from "./Setting.ts"

/** The limits and quotas of the plans. */
export const planSettings = {
  rateLimitStarter: Setting.int(1, 1_000_000)("RATE_LIMIT_STARTER", "60", "Requests per key and minute, Starter plan."),
  rateLimitGrowth: Setting.int(1, 1_000_000)("RATE_LIMIT_GROWTH", "300", "Requests per key and minute, Growth plan."),
  rateLimitBusiness: Setting.int(1, 1_000_000)(
    "RATE_LIMIT_BUSINESS",
    "1000",
    "Requests per key and minute, Business plan."
  ),
  rateLimitEnterprise: Setting.int(1, 1_000_000)(
    "RATE_LIMIT_ENTERPRISE",
    "2000",
    "Requests per key and minute, Enterprise plan."
  ),
  rateLimitAccountKeys: Setting.int(1, 1_000)(
    "RATE_LIMIT_ACCOUNT_KEYS",
    "3",
    "Requests of a whole account per minute, as a multiple of its plan's limit per key."
  ),
  emailQuotaStarter: Setting.quota("EMAIL_QUOTA_STARTER", "5000", "Emails (recipients) per month, Starter plan."),
  emailQuotaGrowth: Setting.quota("EMAIL_QUOTA_GROWTH", "25000", "Emails (recipients) per month, Growth plan."),
  emailQuotaBusiness: Setting.quota("EMAIL_QUOTA_BUSINESS", "100000", "Emails (recipients) per month, Business plan."),
  emailQuotaEnterprise: Setting.quota(
    "EMAIL_QUOTA_ENTERPRISE",
    "unlimited",
    "Emails (recipients) per month, Enterprise plan."
  ),
  smsQuotaStarter: Setting.quota("SMS_QUOTA_STARTER", "100", "SMS per month, Starter plan."),
  smsQuotaGrowth: Setting.quota("SMS_QUOTA_GROWTH", "500", "SMS per month, Growth plan."),
  smsQuotaBusiness: Setting.quota("SMS_QUOTA_BUSINESS", "2000", "SMS per month, Business plan."),
  smsQuotaEnterprise: Setting.quota("SMS_QUOTA_ENTERPRISE", "unlimited", "SMS per month, Enterprise plan."),
  otpQuotaStarter: Setting.quota("OTP_QUOTA_STARTER", "200", "One-time codes per month, Starter plan."),
  otpQuotaGrowth: Setting.quota("OTP_QUOTA_GROWTH", "1000", "One-time codes per month, Growth plan."),
  otpQuotaBusiness: Setting.quota("OTP_QUOTA_BUSINESS", "5000", "One-time codes per month, Business plan."),
  otpQuotaEnterprise: Setting.quota("OTP_QUOTA_ENTERPRISE", "unlimited", "One-time codes per month, Enterprise plan."),
  testQuotaPerDay: Setting.int(1, 1_000_000)(
    "TEST_QUOTA_PER_DAY",
    "1000",
    "Emails (recipients), SMS and one-time codes, each, that the test keys of an account may send per day (UTC)."
  ),
  whatsappSessionLimitStarter: Setting.quota("WHATSAPP_SESSION_LIMIT_STARTER", "1", "WhatsApp sessions, Starter plan."),
  whatsappSessionLimitGrowth: Setting.quota("WHATSAPP_SESSION_LIMIT_GROWTH", "3", "WhatsApp sessions, Growth plan."),
  whatsappSessionLimitBusiness: Setting.quota(
    "WHATSAPP_SESSION_LIMIT_BUSINESS",
    "10",
    "WhatsApp sessions, Business plan."
  ),
  whatsappSessionLimitEnterprise: Setting.quota(
    "WHATSAPP_SESSION_LIMIT_ENTERPRISE",
    "unlimited",
    "WhatsApp sessions, Enterprise plan."
  ),
  acceptedGbPerDay: Setting.decimal(0.001, 1_000_000)(
    "ACCEPTED_GB_PER_DAY",
    "5",
    "Gigabytes of large requests (64 KiB or more) to send messages that an account may make per day (UTC)."
  ),
  webhookLimitStarter: Setting.quota("WEBHOOK_LIMIT_STARTER", "5", "Webhooks, Starter plan."),
  webhookLimitGrowth: Setting.quota("WEBHOOK_LIMIT_GROWTH", "10", "Webhooks, Growth plan."),
  webhookLimitBusiness: Setting.quota("WEBHOOK_LIMIT_BUSINESS", "20", "Webhooks, Business plan."),
  webhookLimitEnterprise: Setting.quota("WEBHOOK_LIMIT_ENTERPRISE", "100", "Webhooks, Enterprise plan."),
  domainLimitStarter: Setting.quota("DOMAIN_LIMIT_STARTER", "5", "Sending domains, Starter plan."),
  domainLimitGrowth: Setting.quota("DOMAIN_LIMIT_GROWTH", "20", "Sending domains, Growth plan."),
  domainLimitBusiness: Setting.quota("DOMAIN_LIMIT_BUSINESS", "50", "Sending domains, Business plan."),
  domainLimitEnterprise: Setting.quota("DOMAIN_LIMIT_ENTERPRISE", "200", "Sending domains, Enterprise plan."),
  templateLimitStarter: Setting.quota("TEMPLATE_LIMIT_STARTER", "50", "Stored templates, Starter plan."),
  templateLimitGrowth: Setting.quota("TEMPLATE_LIMIT_GROWTH", "200", "Stored templates, Growth plan."),
  templateLimitBusiness: Setting.quota("TEMPLATE_LIMIT_BUSINESS", "500", "Stored templates, Business plan."),
  templateLimitEnterprise: Setting.quota("TEMPLATE_LIMIT_ENTERPRISE", "2000", "Stored templates, Enterprise plan.")
} as const
