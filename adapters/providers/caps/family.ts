// Returns facts of a model by the family in its name, for any host: a company's proxy, a cloud's catalogue, a gateway in front of the
// vendor.
import type { ModelCaps } from '../../../core/types/request/dialect.ts'
import { claudeCaps } from './claude.ts'
import { geminiCaps } from './gemini.ts'
import { openaiCaps } from './openai.ts'

/** Returns null when the name shows no family. */
export function familyCaps(model: string): ModelCaps | null {
  const id = bareName(model)
  const caps = factsOf(id)
  if (caps === null) return null
  // The host decides which endpoint accepts tools and which tools the server runs. A limit of the model applies on every host.
  const { toolsOnChat: _, webSearch, ...facts } = caps
  return webSearch === false ? { ...facts, webSearch } : facts
}

function factsOf(id: string): ModelCaps | null {
  if (id.startsWith('claude')) return claudeCaps(id)
  if (/^gemini(?:-|$)/.test(id)) return geminiCaps(id)
  // Open models share the prefix (gpt-oss, gpt-j), but openaiCaps does not know them.
  if (!/^(?:chat)?gpt-|^o\d+(?:-|$)/.test(id)) return null
  const caps = openaiCaps(id)
  return Object.keys(caps).length > 1 ? caps : null
}

/** Returns the part that names the model: `vertex_ai/claude-…`, `us.anthropic.claude-…`, `databricks-claude-…`, `ft:gpt-4o:org::id`. */
function bareName(model: string): string {
  const lower = model.toLowerCase()
  const last = lower.slice(lower.lastIndexOf('/') + 1)
  const tuned = last.startsWith('ft:') ? (last.split(':')[1] ?? '') : last
  return tuned.replace(/^databricks-/, '').replace(/^(?:[a-z][a-z-]*\.){1,3}/, '')
}
