// Schemas of a virtual model's members in the configuration file.
import { z } from 'zod'
import { modelIdFault } from '../../core/models/model-id.ts'
import { WORDED } from '../../core/text/issue-text.ts'
import type { Connection } from '../../core/types/ports/provider.ts'
import { STRATEGIES, type VirtualModelConfig, type VirtualTarget } from './service.ts'

const CONCRETE = /^[^/\s]+\/\S+$/
const concrete = z.string().max(512).refine(isConcrete, 'must be a concrete provider/model id')

function isConcrete(name: string): boolean {
  return CONCRETE.test(name) && modelIdFault(name.slice(name.indexOf('/') + 1)) === null
}

const targetObject = z.strictObject({
  target: z.string().max(512).optional(),
  provider: z.string().min(1).max(64).optional(),
  /** A bare id together with `provider`, otherwise `provider/model`. */
  model: z.string().min(1).max(512).optional(),
  weight: z.number('must be a number').min(0, 'must not be negative').max(1e9).default(1),
  connectionId: z.int().min(1).nullable().default(null),
  enabled: z.boolean().default(true),
  instruction: z.string().max(20_000).nullable().default(null),
  params: z.record(z.string(), z.unknown()).nullable().default(null),
})

/** A text, or an object that names its model in one of three ways; normalized to the full form. */
export const target = z
  .union([z.string().transform((text) => ({ target: text })), z.looseObject({})])
  .transform((given, context) => {
    const parsed = targetObject.safeParse(given, WORDED)
    if (!parsed.success) {
      for (const issue of parsed.error.issues) context.addIssue({ ...issue, code: 'custom' })
      return z.NEVER
    }
    const { target, provider, model, ...rest } = parsed.data
    const apart = provider === undefined ? model : `${provider}/${model ?? ''}`
    if (target !== undefined && !sameTarget(target, provider, model)) {
      context.addIssue({ code: 'custom', message: '`target` names another model than `provider` and `model`' })
      return z.NEVER
    }
    const named = target ?? apart
    if (named === undefined || !isConcrete(named)) {
      context.addIssue({ code: 'custom', message: 'must be a concrete provider/model id' })
      return z.NEVER
    }
    const slash = named.indexOf('/')
    return { provider: named.slice(0, slash), model: named.slice(slash + 1), ...rest } satisfies VirtualTarget
  })

/** Both spellings of a target must agree. A record in which only `model` was edited is ambiguous. */
function sameTarget(target: string, provider: string | undefined, model: string | undefined): boolean {
  const slash = target.indexOf('/')
  if (provider !== undefined && provider !== target.slice(0, slash)) return false
  return model === undefined || model === target || model === target.slice(slash + 1)
}

export const virtualModelConfig = z.strictObject({
  sessionSticky: z.boolean().default(true),
  stickyTtlSecs: z.int().min(1).max(86_400).default(900),
  maxAttempts: z.int().min(0).max(64).default(0),
  judge: concrete.nullable().default(null),
  minPanel: z.int().min(1).max(64).default(2),
  stragglerGraceMs: z.int().min(0).max(600_000).default(8000),
  panelTimeoutMs: z.int().min(1).max(600_000).default(90_000),
  latencyBuffer: z.number().min(0).max(1).default(0),
  tokenSaver: z.boolean().default(true),
}) satisfies z.ZodType<VirtualModelConfig>

export const virtualModelName = z
  .string()
  .min(1, 'must not be empty')
  .max(128)
  .regex(/^[A-Za-z0-9._:-](?:[A-Za-z0-9._:/-]*[A-Za-z0-9._:-])?$/, 'letters, digits and ._:/- without a slash at either end')
  .refine((name) => modelIdFault(name) === null, 'must not have an empty, `.` or `..` segment')

const shape = {
  strategy: z.enum(STRATEGIES),
  targets: z.array(target).min(1, 'needs at least one target').max(64),
  modality: z.enum(['text', 'image']).default('text'),
  enabled: z.boolean().default(true),
  position: z.int().min(0).max(1_000_000).default(0),
  description: z.string().max(2000).default(''),
  config: virtualModelConfig.prefault({}),
}

/** One entry of the file; its name is the key unless it sets another. */
export const declaredVirtualModel = z
  .strictObject({ name: virtualModelName.optional(), ...shape })
  .superRefine((given, context) => {
    for (const [path, message] of complaints(given)) context.addIssue({ code: 'custom', path: [...path], message })
  })
export type DeclaredVirtualModel = z.output<typeof declaredVirtualModel>

/** Rules that involve several fields. */
export function complaints({
  strategy,
  modality,
  targets,
  config,
}: Pick<DeclaredVirtualModel, 'strategy' | 'modality' | 'targets' | 'config'>): [(string | number)[], string][] {
  const found: [(string | number)[], string][] = []
  const seen = new Set<string>()
  for (const [index, { provider, model, connectionId }] of targets.entries()) {
    const identity = `${provider}/${model} ${connectionId}`
    if (seen.has(identity)) found.push([['targets', index], 'is there already'])
    seen.add(identity)
  }
  if (modality === 'image' && (strategy === 'fusion' || strategy === 'pipeline'))
    found.push([['strategy'], `\`${strategy}\` makes several calls and is for text only`])
  if (strategy === 'fusion' && targets.length < 2 && config.judge === null)
    found.push([['targets'], '`fusion` needs two targets, or a judge'])
  if (strategy === 'pipeline' && targets.length < 2) found.push([['targets'], '`pipeline` needs two targets'])
  return found
}

export const DEFAULT_CONFIG: VirtualModelConfig = virtualModelConfig.parse({})

// The message for a target with an unknown provider, in the file and in the API.
export function unknownProvider(provider: string, connections: Iterable<Connection>): string {
  for (const connection of connections)
    if (connection.label === provider)
      return `\`${provider}\` is what a connection is called. Targets begin with its provider: \`${connection.provider}/<model>\`.`
  return `\`${provider}\` is neither in the provider registry nor a provider of a connection.`
}
