-- A part that was deleted from the phones of the sandbox stays until its receipt is reported.
alter table sandbox_sms add column is_hidden boolean not null default false;
