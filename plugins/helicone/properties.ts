// Headers that label a request: custom properties, the prompt it was made from, the job it belongs to.
import type { HeaderBag } from '../../core/types/ports.ts'
import { namesIn } from './headers.ts'
import { requestIdIn } from './request-ids.ts'

const MAX_PROPERTIES = 32
const MAX_NAME = 64
const MAX_VALUE = 512
const PREFIX = 'helicone-property-'

/** By header without the prefix; a dash becomes an underscore. */
const LABELS: ReadonlySet<string> = new Set([
  ...['session-path', 'session-name', 'prompt-id', 'prompt-version', 'prompt-mode', 'prompt-name', 'prompt-format'],
  ...['node-id', 'job-id', 'experiment-id', 'experiment-column-id', 'experiment-row-index'],
  // A label: what is asked and what is paid for is the model that answers.
  'model-override',
])
const COST_CENTER = /^[\x20-\x7e]{1,128}$/

/** The caller's own come last: where there are too many, they are those that go. null: none. */
export function propertiesIn(headers: HeaderBag): Record<string, string> | null {
  const own: [string, string][] = []
  const labels: [string, string][] = []
  for (const name of namesIn(headers)) {
    const value = headers.get(name)?.trim() ?? ''
    if (value === '' || value.length > MAX_VALUE) continue
    const label = name.slice('helicone-'.length)
    if (name.startsWith(PREFIX)) {
      const property = name.slice(PREFIX.length)
      if (property !== '' && property.length <= MAX_NAME) own.push([property, value])
    } else if (LABELS.has(label)) labels.push([label.replaceAll('-', '_'), value])
  }
  // A label too: an id that was used before is found by it.
  const id = requestIdIn(headers)
  if (id !== null) labels.push(['request_id', id])
  const kept = [...labels, ...own].slice(0, MAX_PROPERTIES)
  return kept.length === 0 ? null : Object.fromEntries(kept)
}

/** The reader of `x-gateway-cost-center` decides whether a header may set it. */
export function costCenterIn(headers: HeaderBag): string | null {
  const value = headers.get('helicone-property-cost-center') ?? headers.get('helicone-property-costcenter')
  return value !== null && COST_CENTER.test(value.trim()) ? value.trim() : null
}
