// The built-in plugins in their visible order. A config without `plugins` gets exactly these.
import type { Plugin } from '../core/types/plugin.ts'
import { connections } from './connections/index.ts'
import { countTokens } from './count-tokens/index.ts'
import { health } from './health/index.ts'
import { itemIds } from './item-ids/index.ts'
import { keys } from './keys/index.ts'
import { metrics } from './metrics/index.ts'
import { rateLimits } from './rate-limits/index.ts'
import { settings } from './settings/index.ts'
import { stripUnsupported } from './strip-unsupported/index.ts'
import { thinkTags } from './think-tags/index.ts'

export interface PresetOptions {
  /** False leaves a plugin out; an object is its options. */
  keys?: Parameters<typeof keys>[0]
  rateLimits?: Parameters<typeof rateLimits>[0] | false
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
    keys(options.keys),
    options.rateLimits !== false && rateLimits(options.rateLimits),
    connections(),
    options.stripUnsupported !== false && stripUnsupported(options.stripUnsupported),
    options.itemIds !== false && itemIds(),
    options.thinkTags !== false && thinkTags(),
    options.countTokens !== false && countTokens(),
    options.health !== false && health(),
    options.metrics !== false && metrics(),
  ]
  return plugins.filter((plugin) => plugin !== false)
}
