-- Which of a session's phones a message was accepted for: the count of its pairings, raised when a phone logs it out. A
-- message of an earlier pairing goes nowhere any more, whoever scans the next code.
alter table whatsapp_sessions add column pairing integer not null default 1;
alter table whatsapp_outbox add column pairing integer not null default 1;
update whatsapp_sessions set pairing = 2 where not is_paired;
