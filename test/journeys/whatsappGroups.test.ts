import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { assertRefused } from "../contract/contract.ts"
import { eventually, type RunningNode, Service } from "../support/Service.ts"
import { pairedSession, WhatsApp } from "../support/WhatsApp.ts"
import { inboundAccount } from "../support/whatsAppEvents.ts"

const groupRequests = (node: RunningNode, key: string) => ({
  list: node.request("GET", "/v1/whatsapp/groups", { key }),
  get: (id: unknown) => node.request("GET", `/v1/whatsapp/groups/${String(id)}`, { key }),
  create: (json: unknown) => node.request("POST", "/v1/whatsapp/groups", { key, json }),
  change: (id: unknown, json: unknown) => node.request("PUT", `/v1/whatsapp/groups/${String(id)}`, { key, json })
})

layer(WhatsApp.layer(), { excludeTestServices: true })("WhatsApp groups", (it) => {
  it.effect("a group can be created, read and changed over the session's connection", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { phone, simulator: { controls } } = yield* WhatsApp
      const { key } = yield* inboundAccount(node)
      const { id: session_id, number } = yield* pairedSession(node, key)
      const [one, two] = [yield* phone, yield* phone]
      const groups = groupRequests(node, key)
      const answer = yield* groups.create({
        session_id,
        name: "Team",
        description: "Ours",
        participants: [`+${one}`, "+15559998888"]
      })
      assert.strictEqual(answer.status, 201, answer.text)
      const id = answer.at("data", "id")
      assert.strictEqual(answer.headers["location"], `/v1/whatsapp/groups/${String(id)}`)
      const made = controls.groups().find(({ members }) => members.some((member) => member.number === one))
      assert.deepInclude(made, { subject: "Team", description: "Ours" })
      assert.deepInclude(answer.at("data"), {
        session_id,
        name: "Team",
        description: "Ours",
        participant_count: 2,
        invite_link: `https://chat.whatsapp.com/${made?.inviteCode}`
      })
      assert.sameDeepMembers(answer.at("data", "participants") as Array<unknown>, [
        { phone: `+${number}`, role: "superadmin" },
        { phone: `+${one}`, role: "member" }
      ])
      const changed = yield* groups.change(id, {
        name: "Crew",
        description: null,
        add_participants: [two],
        remove_participants: [`+${one}`]
      })
      assert.deepInclude(changed.at("data"), { name: "Crew", description: null, participant_count: 2 })
      assert.sameDeepMembers(changed.at("data", "participants") as Array<unknown>, [
        { phone: `+${number}`, role: "superadmin" },
        { phone: `+${two}`, role: "member" }
      ])
      const itself = yield* groups.change(id, { name: "Renamed", remove_participants: [`+${two}`, `+${number}`] })
      assertRefused(itself, 422, "validation_error")
      assert.strictEqual(itself.at("error", "param"), "remove_participants[1]")
      assert.deepStrictEqual((yield* groups.get(id)).at("data"), changed.at("data"))
      assert.deepStrictEqual((yield* groups.list).at("meta"), { total: 1, page: 1, per_page: 25, next_cursor: null })
    }))

  it.effect("a group is created without its description when WhatsApp refuses the description", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { phone, simulator: { controls } } = yield* WhatsApp
      const { key } = yield* inboundAccount(node)
      const { id: session_id, number } = yield* pairedSession(node, key)
      const one = yield* phone
      controls.setFault(number, { kind: "refuse-description" })
      const answer = yield* groupRequests(node, key)
        .create({ session_id, name: "Team", description: "Ours", participants: [one] })
      assert.strictEqual(answer.status, 201, answer.text)
      const made = controls.groups().filter(({ members }) => members.some((member) => member.number === one))
      assert.lengthOf(made, 1)
      assert.deepInclude(answer.at("data"), {
        name: "Team",
        description: null,
        invite_link: `https://chat.whatsapp.com/${made[0]?.inviteCode}`
      })
    }))

  /** Makes the database refuse the first statements that store a group of this name. */
  const refuseFirst = Effect.fnUntraced(function*(name: string, { code, times }: { code: string; times: number }) {
    const sql = yield* SqlClient.SqlClient
    yield* sql.unsafe(`create sequence "refusals of ${name}"`).unprepared
    yield* sql.unsafe(
      `create function "refuse ${name}"() returns trigger language plpgsql as $$ begin
          if new.name = '${name}' and nextval('"refusals of ${name}"') <= ${times} then
            raise exception 'refused' using errcode = '${code}';
          end if;
          return new;
        end $$`
    ).unprepared
    yield* sql.unsafe(
      `create trigger "refuse ${name}" before insert or update on whatsapp_groups
        for each row execute function "refuse ${name}"()`
    ).unprepared
  })

  it.effect("a group is created once when the database is away for the moments after its creation", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { phone, simulator: { controls } } = yield* WhatsApp
      const { key } = yield* inboundAccount(node)
      const { id: session_id } = yield* pairedSession(node, key)
      yield* refuseFirst("Away", { code: "57P01", times: 4 })
      const answer = yield* groupRequests(node, key).create({ session_id, name: "Away", participants: [yield* phone] })
      assert.strictEqual(answer.status, 201, answer.text)
      assert.lengthOf(controls.groups().filter(({ subject }) => subject === "Away"), 1)
    }))

  it.effect("a group is created once when the database refuses to store it", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { phone, simulator: { controls } } = yield* WhatsApp
      const { key } = yield* inboundAccount(node)
      const { id: session_id } = yield* pairedSession(node, key)
      yield* refuseFirst("Refused", { code: "P0001", times: 4 })
      const answer = yield* groupRequests(node, key).create({
        session_id,
        name: "Refused",
        participants: [yield* phone]
      })
      assert.lengthOf(controls.groups().filter(({ subject }) => subject === "Refused"), 1)
      assert.strictEqual(answer.status, 500, answer.text)
    }))

  it.effect("changes made on phones are published with their author, and a group is found again after rejoining", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { phone, simulator: { controls } } = yield* WhatsApp
      const account = yield* inboundAccount(node)
      const { device, id: session_id, number } = yield* pairedSession(node, account.key)
      const [boss, member] = [yield* phone, yield* phone]
      const groups = groupRequests(node, account.key)
      const { id: jid } = controls.createGroup(boss, "Theirs", [number])
      const list = yield* eventually(groups.list, ({ at }) => at("data", 0, "participant_count") === 2)
      const id = list.at("data", 0, "id")
      assert.strictEqual(list.at("data", 0, "name"), "Theirs")
      controls.changeGroup(jid, boss, { action: "add", numbers: [member] })
      assert.deepStrictEqual(yield* account.published("group.participant_added", 1), [
        { session_id, group_id: id, participant: `+${member}`, added_by: `+${boss}` }
      ])
      yield* eventually(groups.get(id), ({ at }) => at("data", "participant_count") === 3)
      const refused = yield* groups.change(id, { name: "Ours" })
      assert.deepStrictEqual([refused.status, refused.at("error", "type")], [403, "not_group_admin"])
      controls.changeGroup(jid, boss, { action: "remove", numbers: [member] })
      assert.deepStrictEqual(yield* account.published("group.participant_removed", 1), [
        { session_id, group_id: id, participant: `+${member}`, removed_by: `+${boss}` }
      ])
      controls.changeGroup(jid, boss, { action: "remove", numbers: [number] })
      yield* account.published("group.participant_removed", 2)
      yield* eventually(groups.get(id), ({ status }) => status === 404)
      // A change while the session is disconnected is published when it reconnects.
      controls.dropConnection(device)
      controls.changeGroup(jid, boss, { action: "add", numbers: [number, member] })
      yield* account.published("group.participant_added", 3)
      yield* eventually(groups.get(id), ({ at }) => at("data", "participant_count") === 3)
    }))

  it.effect("a group shows its current invitation link after an admin has reset it, and after the session has rejoined", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { phone, simulator: { controls } } = yield* WhatsApp
      const { key } = yield* inboundAccount(node)
      const { number } = yield* pairedSession(node, key)
      const boss = yield* phone
      const groups = groupRequests(node, key)
      const { id: jid } = controls.createGroup(boss, "Theirs", [number])
      const id = (yield* eventually(groups.list, ({ at }) => at("meta", "total") === 1)).at("data", 0, "id")
      const link = () =>
        `https://chat.whatsapp.com/${String(controls.groups().find((group) => group.id === jid)?.inviteCode)}`
      const first = link()
      yield* eventually(groups.get(id), ({ at }) => at("data", "invite_link") === first)
      controls.renewInvite(jid, boss)
      assert.notStrictEqual(link(), first)
      yield* eventually(groups.get(id), ({ at }) => at("data", "invite_link") === link())
      controls.changeGroup(jid, boss, { action: "remove", numbers: [number] })
      yield* eventually(groups.get(id), ({ status }) => status === 404)
      controls.renewInvite(jid, boss)
      controls.changeGroup(jid, boss, { action: "add", numbers: [number] })
      yield* eventually(groups.get(id), ({ at }) => at("data", "invite_link") === link())
    }))

  it.effect("a group receives messages by its id in the API", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { phone, simulator: { controls } } = yield* WhatsApp
      const { key } = yield* inboundAccount(node)
      const { id: session_id } = yield* pairedSession(node, key)
      const one = yield* phone
      const created = yield* groupRequests(node, key).create({ session_id, name: "Team", participants: [one] })
      const sent = yield* node.request("POST", "/v1/whatsapp/send", {
        key,
        json: { session_id, group_id: created.at("data", "id"), content: "to all of you" }
      })
      assert.strictEqual(sent.status, 202, sent.text)
      const texts = () => controls.messages(one).map(({ text }) => text)
      yield* eventually(Effect.sync(texts), (all) => all.includes("to all of you"))
      const group = String(sent.at("data", "to"))
      assert.match(group, /@g\.us$/)
      const list = yield* node.request("GET", `/v1/whatsapp/messages?to=${group}`, { key })
      assert.deepStrictEqual([list.at("meta", "total"), list.at("data", 0, "to")], [1, group])
    }))
})
