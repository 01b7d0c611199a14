-- Notices by urgency: lane 0 is for those about the account's security, 1 for others. In a lane accounts take turns.
alter table notices add column lane smallint not null default 1;

create index notices_lanes on notices (lane, due_at, id) where status = 'queued';
create index notices_turns on notices (lane, account_id, due_at, id) where status = 'queued';
