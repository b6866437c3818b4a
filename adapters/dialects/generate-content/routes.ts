// How clients reach the dialect: the verb is behind the last colon, the model before it, both raw or percent-encoded.
import type { DialectRoute } from '../../../core/types/dialect.ts'
import { verbs } from './docs.ts'

const VERBS: ReadonlyMap<string, boolean> = new Map([
  ['generateContent', false],
  ['streamGenerateContent', true],
])

/** Reads the undecoded rest of the path; null for any other verb, an empty model or a malformed escape. */
export function parsePath(rest: string): { model: string; stream: boolean } | null {
  const raw = rest.lastIndexOf(':')
  // Some clients encode the whole segment.
  const colon = raw === -1 ? rest.toLowerCase().lastIndexOf('%3a') : raw
  if (colon < 1) return null
  const stream = VERBS.get(rest.slice(colon + (raw === -1 ? 3 : 1)))
  if (stream === undefined) return null
  try {
    return { model: decodeURIComponent(rest.slice(0, colon)), stream }
  } catch {
    return null
  }
}

export const routes: readonly DialectRoute[] = [
  {
    path: '/v1beta/models/*',
    operation: 'chat',
    bodyLimit: 'default',
    models: 'concrete',
    parse: parsePath,
    docs: verbs('/v1beta/models/'),
  },
  // The AI SDK's Google provider leaves `models/` out when the id has a slash.
  { path: '/v1beta/*', operation: 'chat', bodyLimit: 'default', models: 'concrete', parse: parsePath, docs: verbs('/v1beta/') },
]
