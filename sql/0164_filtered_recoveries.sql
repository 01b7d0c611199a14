-- Which of the deliveries with its statuses a recovery repeats: those of an event, and those whose last answer was
-- `response_code`, a status or a class such as 5xx. Null does not filter.
alter table webhook_recoveries add column event text, add column response_code text;
