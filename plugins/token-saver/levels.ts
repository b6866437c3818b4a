// Selects a request's style instruction and its place: after the caller's own system prompt.
import type { CanonicalRequest, Dialect, Frozen, SystemBlock } from '../../core/types/request/canonical.ts'
import type { RequestContext } from '../../core/types/request/context.ts'
import { CAVEMAN, CAVEMAN_LEVELS, type CavemanLevel, PONYTAIL, PONYTAIL_LEVELS, type PonytailLevel } from './texts.ts'

export const CAVEMAN_HEADER = 'x-gateway-caveman'
export const PONYTAIL_HEADER = 'x-gateway-ponytail'

export interface Levels {
  readonly caveman: CavemanLevel | null
  readonly ponytail: PonytailLevel | null
}

/** A header sets another level for its request, or `off`; other values are ignored. */
export function levelsOf({ headers }: RequestContext, set: Levels): Levels {
  return {
    caveman: wished(headers.get(CAVEMAN_HEADER), CAVEMAN_LEVELS, set.caveman),
    ponytail: wished(headers.get(PONYTAIL_HEADER), PONYTAIL_LEVELS, set.ponytail),
  }
}

/** Returns the instructions that fit the request and are not in it yet; none when the form of the answer is fixed. */
export function instructionsFor(request: Frozen<CanonicalRequest>, { caveman, ponytail }: Levels): string[] {
  if (hasFixedForm(request)) return []
  const texts = [caveman === null ? null : CAVEMAN[caveman], ponytail === null ? null : PONYTAIL[ponytail]]
  return texts.filter((text) => text !== null && !says(request.system, text)) as string[]
}

/** For a messages upstream a separate block, so that the caller's cache marks keep their place; otherwise a last paragraph. */
export function withInstructions(system: readonly SystemBlock[], texts: readonly string[], upstream: Dialect): SystemBlock[] {
  const added = { t: 'text' as const, text: texts.join('\n\n') }
  const last = system.at(-1)
  const end = last?.parts.at(-1)
  if (last === undefined || upstream === 'messages' || end?.t !== 'text' || end.cache !== undefined)
    return [...system, { role: last?.role ?? 'system', parts: [added] }]
  const parts = [...last.parts.slice(0, -1), { ...end, text: `${end.text}\n\n${added.text}` }]
  return [...system.slice(0, -1), { ...last, parts }]
}

function wished<L extends string>(header: string | null, levels: readonly L[], set: L | null): L | null {
  const wish = header?.trim().toLowerCase()
  if (wish === 'off') return null
  return levels.find((level) => level === wish) ?? set
}

function hasFixedForm({ output, toolChoice }: Frozen<CanonicalRequest>): boolean {
  if (output !== undefined && output.kind !== 'text') return true
  if (toolChoice === undefined) return false
  const { mode } = toolChoice
  return mode === 'required' || mode === 'tool' || mode === 'server' || (mode === 'allowed' && toolChoice.base === 'required')
}

function says(system: readonly Frozen<SystemBlock>[], text: string): boolean {
  return system.some(({ parts }) => parts.some((part) => part.t === 'text' && part.text.includes(text)))
}
