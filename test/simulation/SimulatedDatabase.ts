import { Effect } from "effect"
import * as TestDatabase from "../support/TestDatabase.ts"
import { makeSessions } from "./Sessions.ts"

/**
 * The schema before `pg_catalog` on the search path has the virtual time, and the history of all rows that a test follows.
 * Defaults have the built-in function in them, so they get the virtual one. Without autovacuum the order of rows replays.
 * The trigger runs at the commit, so the history has the order of commits.
 */
const prepare = [
  "create schema simulation",
  `create function simulation.now() returns timestamptz language sql stable
    return current_setting('simulation.now')::timestamptz`,
  `create function simulation.statement_timestamp() returns timestamptz language sql stable
    return current_setting('simulation.clock')::timestamptz`,
  `create function simulation.clock_timestamp() returns timestamptz language sql volatile
    return current_setting('simulation.clock')::timestamptz`,
  // A transaction chooses its row of `usage_daily` by this number, which differs from run to run in PostgreSQL.
  `create function simulation.pg_backend_pid() returns integer language sql stable
    return extract(microseconds from current_setting('simulation.now')::timestamptz)::integer`,
  `create unlogged table simulation.history (
    id bigint generated always as identity, at timestamptz not null, writer text not null, relation text not null,
    before jsonb, after jsonb
  )`,
  `create function simulation.record() returns trigger language plpgsql as $$
    begin
      insert into simulation.history (at, writer, relation, before, after) values (
        current_setting('simulation.now')::timestamptz, current_setting('simulation.writer'), tg_table_name,
        to_jsonb(old), to_jsonb(new));
      return null;
    end $$`,
  "create unlogged table simulation.published (event text not null, data jsonb not null)",
  `create unlogged table simulation.requests (
    key text primary key, waits boolean not null, effects integer default 0 not null, answers integer[] default '{}' not null
  )`,
  `do $$
    declare
      changed record;
    begin
      for changed in select a.attrelid::regclass as relation, a.attname as name from pg_attrdef d
        join pg_attribute a on a.attrelid = d.adrelid and a.attnum = d.adnum
        where pg_get_expr(d.adbin, d.adrelid) in ('now()', 'pg_catalog.now()') loop
        execute format('alter table %s alter column %I set default simulation.now()', changed.relation, changed.name);
      end loop;
      for changed in select oid::regclass as relation from pg_class
        where relkind = 'r' and relnamespace = 'public'::regnamespace loop
        execute format('alter table %s set (autovacuum_enabled = off)', changed.relation);
      end loop;
    end $$`,
  "select make_day_partitions('2030-01-30', '2030-02-02')",
  "insert into accounts (name, email, plan) select 'Test', n || '@example.com', 'enterprise' from generate_series(1, 2) n"
]

/** A database whose time the simulation sets. It records every change of these tables. */
export const make = Effect.fnUntraced(function*(tables: ReadonlyArray<string>) {
  const sessions = yield* makeSessions(yield* TestDatabase.make())
  const triggers = tables.map((table) =>
    `create constraint trigger simulation after insert or update or delete on ${table} deferrable initially deferred
      for each row execute function simulation.record()`
  )
  for (const statement of [...prepare, ...triggers]) yield* Effect.promise(() => sessions.monitor.rows([statement]))
  return sessions
})
