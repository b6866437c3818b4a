// The built-in plugins in their visible order. A config without `plugins` gets exactly these.
import type { Plugin } from '../core/types/plugin.ts'
import { audit } from './audit/index.ts'
import { budgets } from './budgets/index.ts'
import { catalog } from './catalog/index.ts'
import { connections } from './connections/index.ts'
import { countTokens } from './count-tokens/index.ts'
import { health } from './health/index.ts'
import { itemIds } from './item-ids/index.ts'
import { keys } from './keys/index.ts'
import { metrics } from './metrics/index.ts'
import { policy } from './policy/index.ts'
import { proxyPools } from './proxy-pools/index.ts'
import { quota } from './quota/index.ts'
import { rateLimits } from './rate-limits/index.ts'
import { registry } from './registry/index.ts'
import { resilience } from './resilience/index.ts'
import { settings } from './settings/index.ts'
import { signIn } from './sign-in/index.ts'
import { stripUnsupported } from './strip-unsupported/index.ts'
import { thinkTags } from './think-tags/index.ts'
import { virtualModels } from './virtual-models/index.ts'
import { webhooks } from './webhooks/index.ts'

export interface PresetOptions {
  /** False leaves a plugin out; an object is its options. */
  signIn?: Parameters<typeof signIn>[0]
  keys?: Parameters<typeof keys>[0]
  rateLimits?: Parameters<typeof rateLimits>[0] | false
  registry?: false
  catalog?: false
  policy?: false
  proxyPools?: Parameters<typeof proxyPools>[0] | false
  virtualModels?: Parameters<typeof virtualModels>[0] | false
  budgets?: false
  webhooks?: false
  resilience?: Parameters<typeof resilience>[0] | false
  quota?: false
  stripUnsupported?: Parameters<typeof stripUnsupported>[0] | false
  itemIds?: false
  thinkTags?: false
  countTokens?: false
  health?: false
  metrics?: false
}

/** `plugins: [...preset({ metrics: false }), ourPlugin()]`. */
export function preset(options: PresetOptions = {}): Plugin[] {
  const plugins: (Plugin | false)[] = [
    settings(),
    audit(),
    signIn(options.signIn),
    keys(options.keys),
    options.rateLimits !== false && rateLimits(options.rateLimits),
    connections(),
    options.registry !== false && registry(),
    options.catalog !== false && catalog(),
    options.policy !== false && policy(),
    options.proxyPools !== false && proxyPools(options.proxyPools),
    options.virtualModels !== false && virtualModels(options.virtualModels),
    options.budgets !== false && budgets(),
    options.webhooks !== false && webhooks(),
    options.resilience !== false && resilience(options.resilience),
    options.quota !== false && quota(),
    options.stripUnsupported !== false && stripUnsupported(options.stripUnsupported),
    options.itemIds !== false && itemIds(),
    options.thinkTags !== false && thinkTags(),
    options.countTokens !== false && countTokens(),
    options.health !== false && health(),
    options.metrics !== false && metrics(),
  ]
  return plugins.filter((plugin) => plugin !== false)
}
