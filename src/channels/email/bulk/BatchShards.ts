import { Effect } from "effect"
import { EntityId, ShardId, Sharding } from "effect/cluster"
import { shards } from "../../../platform/cluster/Cluster.ts"
import { ulid } from "../../../platform/crypto/ids.ts"
import { EmailBatchId } from "../../../values/Ids.ts"
import { BatchEntity } from "./BatchEntity.ts"

/** The most ids to try. A node with one shard of 48 finds none by as many only once in 60,000 times. */
const maxTries = 500

const newId = Effect.map(ulid, (id) => EmailBatchId.make(`email_batch_${id}`))

/** The shards of the batches' actors on this node. */
const make = Effect.map(Sharding.Sharding, (sharding) => {
  const group = (id: EmailBatchId) => BatchEntity.getShardGroup(EntityId.make(id))
  const shardOf = (id: EmailBatchId) => sharding.getShardId(EntityId.make(id), group(id))
  /** Whether this node runs the batch's actor. The next owner has the shard only after this is false. */
  const owns = (id: EmailBatchId) => sharding.hasShardId(shardOf(id))
  const isOwned = (shard: number) => sharding.hasShardId(ShardId.make("default", shard))
  return {
    owns,
    shardOf: (id: EmailBatchId) => shardOf(id).id,
    /** The numbers of this node's shards. */
    owned: () => Array.from({ length: shards }, (_, index) => index + 1).filter(isOwned),
    /** A new id, of any shard. */
    newId,
    /** A new id of a shard of this node, if it has any: then the batch can begin without another node. */
    newOwnId: Effect.gen(function*() {
      let id = yield* newId
      for (let tries = 1; tries < maxTries && !owns(id); tries++) id = yield* newId
      return id
    })
  }
})

export const BatchShards = { make }
