-- A domain is verified for one live account at most. Test accounts send nothing, so any number of them may have it.
create unique index email_domains_verified_live on email_domains (domain) where status = 'verified' and account_id > 0;
drop index email_domains_verified;
