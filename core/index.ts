// hookgate/core: the runtime-neutral gateway. `createGateway` needs ports; the entry `hookgate` provides those of Node.

export { isConversation } from './calls/conversation.ts'
export { addedUsage, asStream, changedForCaller, withUsage } from './calls/derived-answer.ts'
export { routeIsMissing, vendorServes } from './calls/vendor-serves.ts'
export { ExpiringMap, type ExpiringMapOptions } from './collections/expiring-map.ts'
export type { Configuration } from './config/configuration.ts'
export type { MemberChange } from './config/declaration.ts'
export {
  type ConfigFile,
  type ConfigProviders,
  type ConfigSections,
  type ConfigSettings,
  type ConnectionConfig,
  defineConfig,
  type GatewayConfig,
  type Pinned,
  type PluginReference,
  type ProviderId,
  pin,
  type SettingsTree,
} from './config/define.ts'
export { type Env, type Resolved, readEnv } from './config/env.ts'
export type { ConfigOptions } from './config/option-types.ts'
export { conflict, refuseExclusive, refuseOwnedByFile } from './config/owned.ts'
export type { ConfigPlan, PlanAction, PlanStep } from './config/reconcile.ts'
export { isSecretRef, resolveSecret, type SecretRef, secret } from './config/secret.ts'
// The variables of the core; `gateway.env.all()` has those of plugins too.
export { VARIABLES } from './config/variables.ts'
export {
  jsonCredential,
  type LoadedCredential,
  type RenewedCredentials,
  type RenewedOptions,
  renewedCredentials,
} from './credentials.ts'
export { BatchWriter, type BatchWriterOptions } from './db/batch-writer.ts'
export { lock } from './db/lock.ts'
export { sql } from './db/sql.ts'
export { isUniqueViolation } from './db/storage-fault.ts'
export { defineDialect, type UpstreamDialect } from './define-dialect.ts'
export { envelope, GatewayError, type GatewayErrorInit } from './errors/gateway-error.ts'
export { type CreateOptions, createGateway, type HostedGateway } from './gateway.ts'
export { HOOK_NAMES, HOOKS, type HookKind, type HookSpec } from './hooks/catalogue.ts'
export type { SealedHook } from './hooks/compile.ts'
export { notFound } from './http/api-routes.ts'
export { headerBag } from './http/headers.ts'
export { deleted, idParams } from './http/schemas.ts'
export { streamed } from './http/streamed.ts'
export { inOrder, NOT_IN_ORDER, shownWindow, windowAnswer, windowOf, windowQuery } from './http/window.ts'
export { randomId } from './ids/ids.ts'
export { sameDigest } from './ids/same-digest.ts'
export { systemRandom } from './ids/system-random.ts'
export { comparableJson } from './json/comparable-json.ts'
export { wireBody } from './json/wire-body.ts'
export { jsonLog, silentLog } from './log.ts'
export { checkedModelId } from './models/model-id.ts'
export { estimateRequest, estimateText, noUsage } from './models/token-estimate.ts'
export { replaySource } from './pipeline/whole-answer.ts'
export { definePlugin, PLUGIN_API_VERSION } from './plugins/define.ts'
export { defineProvider, type ProviderDefinition } from './providers.ts'
export { callOf } from './records/cached-call.ts'
export { accountOf, isForeign, isShared } from './records/request-record.ts'
export { rootOf } from './records/root-request.ts'
export type {
  AuditEntry,
  AuditLog,
  Billable,
  ConnectionService,
  DeclaredSetting,
  DirectAnswer,
  DirectCallOptions,
  DirectCalls,
  Exposition,
  GatewayStatus,
  OperatorService,
  PriceService,
  RuntimeSettings,
  SettingsService,
  StepPrice,
} from './services.ts'
export { collector, replay } from './stream/collect.ts'
export { type HoldBack, type HoldBackOptions, holdBack } from './stream/hold-back.ts'
export { PartWriter } from './stream/part-writer.ts'
export { base64Decode, decodeUtf8, encodeUtf8 } from './text/bytes.ts'
export { csvText } from './text/csv-text.ts'
export { globMatch } from './text/glob.ts'
export { systemClock } from './timing/clock.ts'
export type * from './types/attention.ts'
export type * from './types/error.ts'
export type * from './types/gateway.ts'
export type * from './types/operations/operation.ts'
export type * from './types/operations/operations.ts'
export type * from './types/operator.ts'
export type * from './types/playground.ts'
export type * from './types/plugin/hooks.ts'
export type * from './types/plugin/info.ts'
export type * from './types/plugin/offer-host.ts'
export type * from './types/plugin/offers.ts'
export type * from './types/plugin/page.ts'
export type * from './types/plugin/panel.ts'
export type * from './types/plugin/plugin.ts'
export type * from './types/plugin/portable.ts'
export type * from './types/plugin/resource.ts'
export type * from './types/plugin/variables.ts'
export type * from './types/ports/db.ts'
export type * from './types/ports/ports.ts'
export type * from './types/ports/prices.ts'
export type * from './types/ports/processes.ts'
export type * from './types/ports/provider.ts'
export type * from './types/ports/siblings.ts'
export type * from './types/ports/simulation.ts'
export type * from './types/ports/site.ts'
export type * from './types/ports/web-page.ts'
export type * from './types/reload.ts'
export type * from './types/request/answer.ts'
export type * from './types/request/canonical.ts'
export type * from './types/request/context.ts'
export type * from './types/request/dialect.ts'
export type * from './types/request/host.ts'
export type * from './types/request/result.ts'
export type * from './types/request/stream.ts'
export { VERSION } from './version.ts'
