// Requests of the four dialects with Helicone's headers.
import type { TestGateway } from '../../../adapters/testing/test-gateway.ts'
import type { Dialect } from '../../../core/types/request/canonical.ts'

export const DIALECTS: readonly Dialect[] = ['chat', 'messages', 'responses', 'generate_content']

export interface Seen {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

/** Reads the answer and waits until it is settled. */
export async function ask(
  t: TestGateway,
  headers: Record<string, string> = {},
  { dialect = 'chat', stream = false, more = {} }: { dialect?: Dialect; stream?: boolean; more?: object } = {},
): Promise<Seen> {
  const settled = t.settled.length
  const response = await t.post(pathOf(dialect, stream), bodyOf(dialect, stream, more), headers)
  const text = await response.text()
  await t.untilSettled(settled + 1)
  return { status: response.status, headers: response.headers, text }
}

function pathOf(dialect: Dialect, stream: boolean): string {
  if (dialect === 'chat') return '/v1/chat/completions'
  if (dialect !== 'generate_content') return `/v1/${dialect}`
  return `/v1beta/models/generate_content/m:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`
}

function bodyOf(dialect: Dialect, stream: boolean, more: object): object {
  if (dialect === 'generate_content') return { contents: [{ role: 'user', parts: [{ text: 'hi' }] }], ...more }
  const streamed = stream ? { stream } : {}
  if (dialect === 'responses') return { model: 'responses/m', input: 'hi', ...streamed, ...more }
  const limit = dialect === 'messages' ? { max_tokens: 50 } : {}
  return { model: `${dialect}/m`, messages: [{ role: 'user', content: 'hi' }], ...limit, ...streamed, ...more }
}

export function errorIn({ text }: Seen): { message: string; code: string | null; param: string | null } {
  return (JSON.parse(text) as { error: { message: string; code: string | null; param: string | null } }).error
}

export function lastContext(t: TestGateway) {
  const last = t.settled.at(-1)
  if (last === undefined) throw new Error('Nothing has settled.')
  return last.ctx
}
