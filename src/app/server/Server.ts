import * as NodeServices from "@effect/platform-node/NodeServices"
import { Duration, Effect, Layer, Schedule } from "effect"
import { HttpServer } from "effect/http"
import { AccountsLayer } from "../../accounts/AccountHttp.ts"
import { ApiKeysLayer, CredentialsLayer } from "../../api-keys/ApiKeysHttp.ts"
import { ConsoleLayer } from "../../console/ConsoleLayer.ts"
import { EmailDomainsLayer } from "../../email-domains/EmailDomainsHttp.ts"
import { Events } from "../../events/Events.ts"
import { FailoversLayer } from "../../failovers/FailoversHttp.ts"
import { HistoryLayer } from "../../history/HistoryHttp.ts"
import { MessageChanges } from "../../messages/MessageChanges.ts"
import { Messages } from "../../messages/Messages.ts"
import { ScheduledQueues } from "../../messages/ScheduledQueues.ts"
import { OverviewLayer } from "../../overview/OverviewHttp.ts"
import { PeopleLayer } from "../../people/PeopleLayer.ts"
import { Cluster, ClusterPruning } from "../../platform/cluster/Cluster.ts"
import { AppConfig } from "../../platform/config/AppConfig.ts"
import { TemporaryFiles } from "../../platform/config/TemporaryFiles.ts"
import { MacKeys } from "../../platform/crypto/MacKeys.ts"
import { MainVault } from "../../platform/crypto/MainKey.ts"
import { Database } from "../../platform/database/Database.ts"
import { FreeSpace } from "../../platform/database/FreeSpace.ts"
import { Outages } from "../../platform/database/Outages.ts"
import { DailyVolume } from "../../platform/http/DailyVolume.ts"
import { Idempotency } from "../../platform/http/Idempotency.ts"
import { BodyMemory } from "../../platform/http/MemoryBudget.ts"
import { PublicUrl } from "../../platform/http/PublicUrl.ts"
import { RateLimit } from "../../platform/http/RateLimit.ts"
import { Draining } from "../../platform/http/ready/Draining.ts"
import { QuickAnswers } from "../../platform/http/ready/QuickAnswers.ts"
import { RequestPipeline } from "../../platform/http/RequestPipeline.ts"
import { RequestRulesLayer } from "../../platform/http/RequestRulesLayer.ts"
import { RequestsInFlight } from "../../platform/http/RequestsInFlight.ts"
import { Health } from "../../platform/observability/Health.ts"
import { RefusalLog } from "../../platform/observability/RefusalLog.ts"
import { metrics, Traces } from "../../platform/observability/Telemetry.ts"
import { Overload } from "../../platform/work/Overload.ts"
import { QuickWrites } from "../../platform/work/QuickWrites.ts"
import { TestWork } from "../../platform/work/TestWork.ts"
import { UpstreamOutages } from "../../platform/work/UpstreamOutages.ts"
import { PricingLayer } from "../../pricing/PricingHttp.ts"
import { RequestLog } from "../../requests/RequestLog.ts"
import { RequestsLayer } from "../../requests/RequestsHttp.ts"
import { SandboxToken } from "../../sandbox/pages/SandboxToken.ts"
import { TemplatesLayer } from "../../templates/TemplatesHttp.ts"
import { UsageLayer } from "../../usage/UsageHttp.ts"
import { VerifyLayer } from "../../verify/VerifyHttp.ts"
import { WebhooksLayer } from "../../webhooks/WebhooksHttp.ts"
import { Channels } from "./Channels.ts"
import { HttpServerLayer, OpenConnections } from "./HttpServer.ts"
import { Pruning } from "./Pruning.ts"
import { AccountErasure, ErasureSteps, Retention } from "./Retention.ts"
import { AcceptancePathsLayer, AllowedLayer, Routes } from "./Routes.ts"
import { serveRoutes } from "./serveRoutes.ts"
import { ServiceGauges } from "./ServiceGauges.ts"
import { Welcome } from "./Welcome.ts"

/** Services that every domain uses. */
const Platform = Layer.mergeAll(
  RateLimit.layer,
  RequestsInFlight.layer,
  DailyVolume.layer,
  Idempotency.layer,
  QuickAnswers.layer.pipe(Layer.provideMerge(Draining.layer)),
  AllowedLayer,
  Overload.layer.pipe(Layer.provide(AcceptancePathsLayer)),
  Outages.layer,
  TestWork.layer,
  UpstreamOutages.layer,
  RefusalLog,
  Layer.merge(RequestLog, SandboxToken.layer).pipe(Layer.provideMerge(MacKeys.layer))
).pipe(
  Layer.provideMerge(Cluster.pipe(Layer.provide(Database.layerCluster))),
  Layer.provideMerge(MainVault),
  Layer.provideMerge(FreeSpace.layer),
  Layer.provideMerge(QuickWrites.layer),
  Layer.provideMerge(Database.layerQuickReads),
  Layer.provideMerge(Database.layerProbe),
  Layer.provideMerge(Database.layerRequests),
  Layer.provideMerge(NodeServices.layer)
)

/** The domains, in the order of their imports. */
const Domains = OverviewLayer.pipe(
  Layer.provideMerge(Layer.mergeAll(VerifyLayer, FailoversLayer, HistoryLayer, RequestsLayer)),
  Layer.provideMerge(Channels),
  Layer.provideMerge(TemplatesLayer),
  Layer.provideMerge(EmailDomainsLayer),
  Layer.provideMerge(Layer.merge(MessageChanges.layer.pipe(Layer.provideMerge(Messages.layer)), ScheduledQueues.layer)),
  Layer.provideMerge(PricingLayer),
  Layer.provideMerge(UsageLayer),
  Layer.provideMerge(Events.layer),
  Layer.provideMerge(WebhooksLayer),
  Layer.provideMerge(ApiKeysLayer),
  Layer.provideMerge(AccountsLayer),
  Layer.provideMerge(PeopleLayer),
  Layer.provide(ErasureSteps),
  Layer.provideMerge(CredentialsLayer),
  Layer.provideMerge(RequestRulesLayer),
  Layer.provideMerge(BodyMemory.layer)
)

const PublicUrlOfServer = Layer.unwrap(
  Effect.map(
    HttpServer.HttpServer,
    ({ address }) => PublicUrl.layer(address._tag === "UnixPathAddress" ? 0 : address.port)
  )
)

const Maintenance = Database.onMaintenancePool(Layer.merge(Pruning, Retention))

/**
 * Drains before the server closes: health checks report it, and every answer closes its connection. It ends as soon as no
 * connection is open, so that a node without clients stops at once.
 */
const Drain = Layer.effectDiscard(Effect.gen(function*() {
  const { drainSeconds } = yield* AppConfig
  const { begin } = yield* Draining
  const { count } = yield* OpenConnections
  const schedule = Schedule.spaced("20 millis").pipe(Schedule.upTo({ duration: Duration.seconds(drainSeconds) }))
  const left = Effect.repeat(count, { until: (open) => open === 0, schedule })
  yield* Effect.addFinalizer(() => Effect.andThen(begin, left))
}))

/** One node of the service. */
export const Server = Drain.pipe(
  Layer.provideMerge(serveRoutes(
    Layer.mergeAll(
      Routes,
      ConsoleLayer,
      Health,
      RequestPipeline,
      ClusterPruning,
      Maintenance,
      AccountErasure,
      Welcome.layer
    ).pipe(
      Layer.provideMerge(Domains)
    )
  )),
  Layer.provideMerge(PublicUrlOfServer),
  Layer.provideMerge(HttpServerLayer),
  Layer.provideMerge(metrics(ServiceGauges)),
  // Above the platform, because nodes of one machine find the embedded database's socket by the common TMPDIR.
  Layer.provideMerge(TemporaryFiles),
  Layer.provideMerge(Platform),
  Layer.provide(Traces)
)
