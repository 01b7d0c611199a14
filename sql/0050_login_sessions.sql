-- What an owner needs to recognise a login, and to end it. client_address and user_agent are those of the login. They go
-- with the session. last_used_at changes at most once a minute.
alter table login_sessions add column id bigint generated always as identity;
alter table login_sessions add column last_used_at timestamptz;
alter table login_sessions add column client_address text;
alter table login_sessions add column user_agent text;

create unique index login_sessions_id on login_sessions (id);
