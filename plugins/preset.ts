// The built-in plugins in their visible order. A config without `plugins` gets exactly these.
import type { Plugin } from '../core/types/plugin/plugin.ts'
import { advisor } from './advisor/index.ts'
import { alerts } from './alerts/index.ts'
import { answerModel } from './answer-model/index.ts'
import { attention } from './attention/index.ts'
import { audit } from './audit/index.ts'
import { batches } from './batches/index.ts'
import { budgets } from './budgets/index.ts'
import { cacheInjection } from './cache-injection/index.ts'
import { catalog } from './catalog/index.ts'
import { compaction } from './compaction/index.ts'
import { completions } from './completions/index.ts'
import { configPlan } from './config-plan/index.ts'
import { connections } from './connections/index.ts'
import { cors } from './cors/index.ts'
import { countTokens } from './count-tokens/index.ts'
import { dashboard } from './dashboard/index.ts'
import { defaultModels } from './default-models/index.ts'
import { downloads } from './downloads/index.ts'
import { exactCache } from './exact-cache/index.ts'
import { freePool } from './free-pool/index.ts'
import { guardrails } from './guardrails/index.ts'
import { health } from './health/index.ts'
import { heartbeat } from './heartbeat/index.ts'
import { helicone } from './helicone/index.ts'
import { interception } from './interception/index.ts'
import { itemIds } from './item-ids/index.ts'
import { keys } from './keys/index.ts'
import { ledger } from './ledger/index.ts'
import { liveEvents } from './live-events/index.ts'
import { mail } from './mail/index.ts'
import { metrics } from './metrics/index.ts'
import { oauthAccounts } from './oauth-accounts/index.ts'
import { oidc } from './oidc/index.ts'
import { organizations } from './organizations/index.ts'
import { payloadRules } from './payload-rules/index.ts'
import { playground } from './playground/index.ts'
import { pluginList } from './plugin-list/index.ts'
import { policy } from './policy/index.ts'
import { checkOptions, LEAVES_OUT } from './preset-options.ts'
import { pricing } from './pricing/index.ts'
import { proxyPools } from './proxy-pools/index.ts'
import { quota } from './quota/index.ts'
import { rateLimits } from './rate-limits/index.ts'
import { reasoningReplay } from './reasoning-replay/index.ts'
import { registry } from './registry/index.ts'
import { requestLog } from './request-log/index.ts'
import { resilience } from './resilience/index.ts'
import { responsesSocket } from './responses-socket/index.ts'
import { responsesState } from './responses-state/index.ts'
import { savings } from './savings/index.ts'
import { semanticCache } from './semantic-cache/index.ts'
import { settings } from './settings/index.ts'
import { shadowEval } from './shadow-eval/index.ts'
import { signIn } from './sign-in/index.ts'
import { stripUnsupported } from './strip-unsupported/index.ts'
import { telemetry } from './telemetry/index.ts'
import { thinkTags } from './think-tags/index.ts'
import { thoughtSignatures } from './thought-signatures/index.ts'
import { tokenSaver } from './token-saver/index.ts'
import { transfer } from './transfer/index.ts'
import { tunnel } from './tunnel/index.ts'
import { upstreamHeaders } from './upstream-headers/index.ts'
import { usage } from './usage/index.ts'
import { vendorIds } from './vendor-ids/index.ts'
import { virtualModels } from './virtual-models/index.ts'
import { voices } from './voices/index.ts'
import { wasmFilters } from './wasm-filters/index.ts'
import { webFetch } from './web-fetch/index.ts'
import { webhooks } from './webhooks/index.ts'

// Loads the declared types of services, events and file sections for users who import only the preset.
export type {} from './advisor/service.ts'
export type {} from './audit/events.ts'
export type {} from './budgets/alerts/announcement.ts'
export type {} from './budgets/resource.ts'
export type {} from './budgets/service.ts'
export type {} from './catalog/service.ts'
export type {} from './config-types.ts'
export type {} from './connections/service.ts'
export type {} from './exact-cache/service.ts'
export type {} from './guardrails/service.ts'
export type {} from './keys/resource.ts'
export type {} from './keys/service.ts'
export type {} from './ledger/service.ts'
export type {} from './mail/service.ts'
export type {} from './oauth-accounts/service.ts'
export type {} from './organizations/deletion.ts'
export type {} from './organizations/resource.ts'
export type {} from './organizations/service.ts'
export type {} from './policy/service.ts'
export type {} from './pricing/service.ts'
export type {} from './quota/service.ts'
export type {} from './request-log/service.ts'
export type {} from './resilience/events.ts'
export type {} from './resilience/service.ts'
export type {} from './savings/service.ts'
export type {} from './semantic-cache/service.ts'
export type {} from './settings/service.ts'
export type {} from './shadow-eval/service.ts'
export type {} from './sign-in/service.ts'
export type {} from './transfer/service.ts'
export type {} from './virtual-models/resource.ts'
export type {} from './virtual-models/service.ts'
export type {} from './webhooks/resource.ts'
export type {} from './webhooks/service.ts'

export interface PresetOptions {
  /** False leaves a plugin out; an object holds its options. */
  signIn?: Parameters<typeof signIn>[0]
  mail?: Parameters<typeof mail>[0] | false
  /** Signs tenants in with an identity provider; it needs multi-tenant mode. */
  oidc?: Parameters<typeof oidc>[0] | false
  keys?: Parameters<typeof keys>[0]
  organizations?: Parameters<typeof organizations>[0]
  rateLimits?: Parameters<typeof rateLimits>[0] | false
  guardrails?: false
  wasmFilters?: Parameters<typeof wasmFilters>[0] | false
  /** Without it there is no semantic cache. */
  exactCache?: Parameters<typeof exactCache>[0] | false
  registry?: false
  pluginList?: false
  dashboard?: Parameters<typeof dashboard>[0] | false
  /** Release files under `/dl/`. */
  downloads?: Parameters<typeof downloads>[0] | false
  attention?: false
  configPlan?: false
  transfer?: false
  catalog?: false
  pricing?: Parameters<typeof pricing>[0] | false
  policy?: false
  proxyPools?: Parameters<typeof proxyPools>[0] | false
  virtualModels?: Parameters<typeof virtualModels>[0] | false
  helicone?: false
  semanticCache?: Parameters<typeof semanticCache>[0] | false
  ledger?: Parameters<typeof ledger>[0] | false
  usage?: false
  budgets?: false
  /** It needs the ledger, budgets and virtual models. */
  freePool?: Parameters<typeof freePool>[0] | false
  webhooks?: Parameters<typeof webhooks>[0] | false
  alerts?: Parameters<typeof alerts>[0] | false
  requestLog?: Parameters<typeof requestLog>[0] | false
  savings?: Parameters<typeof savings>[0] | false
  /** It needs the ledger, the catalogue and virtual models. */
  advisor?: Parameters<typeof advisor>[0] | false
  /** It needs the ledger, budgets, the catalogue and virtual models. */
  shadowEval?: Parameters<typeof shadowEval>[0] | false
  liveEvents?: Parameters<typeof liveEvents>[0] | false
  playground?: false
  resilience?: Parameters<typeof resilience>[0] | false
  quota?: false
  /** Accounts that sign in; `clients` are your own OAuth clients. */
  oauthAccounts?: Parameters<typeof oauthAccounts>[0] | false
  tokenSaver?: false
  cacheInjection?: false
  reasoningReplay?: false
  thoughtSignatures?: Parameters<typeof thoughtSignatures>[0] | false
  payloadRules?: Parameters<typeof payloadRules>[0] | false
  stripUnsupported?: Parameters<typeof stripUnsupported>[0] | false
  itemIds?: false
  responsesState?: Parameters<typeof responsesState>[0] | false
  thinkTags?: false
  countTokens?: false
  defaultModels?: false
  webFetch?: false
  compaction?: false
  completions?: false
  batches?: Parameters<typeof batches>[0] | false
  responsesSocket?: false
  voices?: false
  heartbeat?: false
  answerModel?: false
  upstreamHeaders?: false
  vendorIds?: Parameters<typeof vendorIds>[0] | false
  cors?: false
  health?: false
  metrics?: false
  /** Only the local profile has it. */
  tunnel?: false
  /** Only the local profile has it. It intercepts the hosts of its options. */
  interception?: Parameters<typeof interception>[0] | false
  telemetry?: Parameters<typeof telemetry>[0] | false
}

/** Example: `plugins: [...preset({ metrics: false }), ourPlugin()]`. @throws TypeError for an unknown option. */
export function preset(options: PresetOptions = {}): Plugin[] {
  checkOptions(options, LEAVES_OUT satisfies Record<keyof PresetOptions, boolean>)
  const plugins: (Plugin | false)[] = [
    settings(),
    audit(),
    signIn(options.signIn),
    options.mail !== false && mail(options.mail),
    options.oidc !== false && oidc(options.oidc),
    keys(options.keys),
    organizations(options.organizations),
    options.rateLimits !== false && rateLimits(options.rateLimits),
    options.guardrails !== false && guardrails(),
    options.wasmFilters !== false && wasmFilters(options.wasmFilters),
    options.exactCache !== false && exactCache(options.exactCache),
    connections(),
    options.registry !== false && registry(),
    options.pluginList !== false && pluginList(),
    options.dashboard !== false && dashboard(options.dashboard),
    options.downloads !== false && downloads(options.downloads),
    options.attention !== false && attention(),
    options.configPlan !== false && configPlan(),
    options.transfer !== false && transfer(),
    options.catalog !== false && catalog(),
    options.catalog !== false && options.pricing !== false && pricing(options.pricing),
    options.policy !== false && policy(),
    options.proxyPools !== false && proxyPools(options.proxyPools),
    options.virtualModels !== false && virtualModels(options.virtualModels),
    options.helicone !== false && helicone(),
    options.exactCache !== false && options.semanticCache !== false && semanticCache(options.semanticCache),
    options.ledger !== false && ledger(options.ledger),
    options.ledger !== false && options.usage !== false && usage(),
    options.ledger !== false && options.budgets !== false && budgets(),
    options.ledger !== false &&
      options.budgets !== false &&
      options.virtualModels !== false &&
      options.freePool !== false &&
      freePool(options.freePool),
    options.webhooks !== false && webhooks(options.webhooks),
    options.alerts !== false && alerts(options.alerts),
    options.requestLog !== false && requestLog(options.requestLog),
    options.ledger !== false && options.savings !== false && savings(options.savings),
    options.ledger !== false &&
      options.catalog !== false &&
      options.virtualModels !== false &&
      options.advisor !== false &&
      advisor(options.advisor),
    options.ledger !== false &&
      options.budgets !== false &&
      options.catalog !== false &&
      options.virtualModels !== false &&
      options.shadowEval !== false &&
      shadowEval(options.shadowEval),
    options.liveEvents !== false && liveEvents(options.liveEvents),
    options.playground !== false && playground(),
    options.resilience !== false && resilience(options.resilience),
    options.quota !== false && quota(),
    options.oauthAccounts !== false && oauthAccounts(options.oauthAccounts),
    options.tokenSaver !== false && tokenSaver(),
    options.cacheInjection !== false && cacheInjection(),
    options.reasoningReplay !== false && reasoningReplay(),
    options.thoughtSignatures !== false && thoughtSignatures(options.thoughtSignatures),
    options.payloadRules !== false && payloadRules(options.payloadRules),
    options.stripUnsupported !== false && stripUnsupported(options.stripUnsupported),
    options.itemIds !== false && itemIds(),
    options.responsesState !== false && responsesState(options.responsesState),
    options.thinkTags !== false && thinkTags(),
    options.countTokens !== false && countTokens(),
    options.defaultModels !== false && defaultModels(),
    options.webFetch !== false && webFetch(),
    options.compaction !== false && compaction(),
    options.completions !== false && completions(),
    options.batches !== false && batches(options.batches),
    options.responsesSocket !== false && responsesSocket(),
    options.voices !== false && voices(),
    options.heartbeat !== false && heartbeat(),
    options.answerModel !== false && answerModel(),
    options.upstreamHeaders !== false && upstreamHeaders(),
    options.vendorIds !== false && vendorIds(options.vendorIds),
    options.cors !== false && cors(),
    options.health !== false && health(),
    options.metrics !== false && metrics(),
    options.tunnel !== false && tunnel(),
    options.interception !== false && interception(options.interception),
    options.telemetry !== false && telemetry(options.telemetry),
  ]
  return plugins.filter((plugin) => plugin !== false)
}
