// `hookgate responses`: shows, exports and deletes what the gateway has stored of callers' conversations.
import { action, JSON_FLAG, PLANE } from '../action.ts'
import { queryOf, readControlPlane, withControlPlane } from '../control-plane/control-plane.ts'
import { failUsage } from '../fail.ts'
import { count } from '../flag-values.ts'
import { localTime } from '../output/figures.ts'
import { cell, printJson, say, table } from '../output/table.ts'

interface Stored {
  id: string
  object: 'response' | 'conversation'
  key_id: number | null
  status: string
  created_at: string
  expires_at: string
  bytes: number
}

const KEY = { key: { type: 'string', description: 'Number of the client key; 0: calls without a key', valueHint: 'id' } } as const

export const listResponses = action({
  name: 'list',
  description: 'List stored responses and conversations, newest first.',
  args: {
    ...KEY,
    limit: { type: 'string', description: 'Number of lines, up to 200; default: 50', valueHint: 'number' },
    ...JSON_FLAG,
    ...PLANE,
  },
  fields: { key_id: 'key', limit: 'limit' },
  async run(given) {
    const query = queryOf({ key_id: numberOf(given.key), limit: String(count('limit', given.limit) ?? 50) })
    const page = await readControlPlane(given, ({ call }) =>
      call<{ data: Stored[]; next_cursor: string | null }>('GET', `/api/responses${query}`),
    )
    if (given.json) return printJson(page)
    if (page.data.length === 0) return say.info('No response is stored.')
    const rows = page.data.map((one) =>
      [one.id, one.key_id, one.status, localTime(one.created_at), localTime(one.expires_at), one.bytes].map(cell),
    )
    console.log(table(['ID', 'KEY', 'STATUS', 'CREATED', 'EXPIRES', 'BYTES'], rows, {}, ['BYTES']))
    if (page.next_cursor !== null) say.info('There are older ones: --limit shows up to 200; `responses export` writes all.')
  },
})

const byId = { id: { type: 'positional', required: true, description: 'Id of a response or a conversation' } } as const

export const showResponse = action({
  name: 'show',
  description: 'Print a stored response or conversation with its texts, as JSON.',
  args: { ...byId, ...JSON_FLAG, ...PLANE },
  async run(given) {
    printJson(await readControlPlane(given, ({ call }) => call('GET', pathOf(given.id))))
  },
})

export const removeResponses = action({
  name: 'rm',
  description: 'Delete one stored response or conversation, or all of a key or of the organization.',
  args: {
    id: { type: 'positional', required: false, description: 'Id of a response or a conversation' },
    ...KEY,
    all: { type: 'boolean', description: 'Everything that is stored' },
    ...JSON_FLAG,
    ...PLANE,
  },
  fields: { key_id: 'key' },
  async run(given) {
    const chosen = [given.id, given.key, given.all || undefined].filter((one) => one !== undefined)
    if (chosen.length !== 1) failUsage('Give one of these: an id, `--key <id>` or `--all`.')
    const path =
      given.id === undefined
        ? `/api/responses${queryOf(given.all ? { all: 'true' } : { key_id: numberOf(given.key) })}`
        : pathOf(given.id)
    const answer = await withControlPlane(given, ({ call }) => call<{ deleted: number | true }>('DELETE', path))
    if (given.json) printJson(answer)
    else say.success(given.id === undefined ? `${answer.deleted} are deleted.` : `${given.id} is deleted.`)
  },
})

export const exportResponses = action({
  name: 'export',
  description: 'Write stored responses and conversations with their texts, one JSON object a line.',
  args: { ...KEY, ...PLANE },
  fields: { key_id: 'key' },
  async run(given) {
    await readControlPlane(given, async ({ download }) => {
      const { body } = await download(`/api/responses/export${queryOf({ key_id: numberOf(given.key) })}`)
      for await (const chunk of body ?? []) process.stdout.write(chunk)
    })
  },
})

function pathOf(id: string): string {
  return `/api/responses/${encodeURIComponent(id)}`
}

function numberOf(key: string | undefined): string | undefined {
  const number = count('key', key)
  return number === undefined ? undefined : String(number)
}
