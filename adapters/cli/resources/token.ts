// `hookgate token`: manages management tokens, for scripts that call /api. A token is printed once, alone on stdout.
import { action, JSON_FLAG, PLANE } from '../action.ts'
import { readQuickly, withControlPlane } from '../control-plane/control-plane.ts'
import { id } from '../flag-values.ts'
import { future } from '../instants.ts'
import { cell, printJson, say, table } from '../output/table.ts'

interface Token {
  id: number
  label: string
  token_hint: string
  scope: string
  created_by: string
  expires_at: string | null
  last_used_at: string | null
}

export const create = action({
  name: 'create',
  description: 'Make a management token for /api. It is printed once.',
  args: {
    label: { type: 'string', description: 'Name in lists and in the audit log', valueHint: 'text' },
    scope: { type: 'string', description: '`manage`, or `read` for GET only; default: manage', valueHint: 'scope' },
    expires: { type: 'string', description: 'When it ends: 30d, 14:30, 2027-01-31, RFC 3339; default: never', valueHint: 'time' },
    ...JSON_FLAG,
    ...PLANE,
  },
  fields: { label: 'label', scope: 'scope', expires_at: 'expires' },
  async run(given) {
    const body = { label: given.label, scope: given.scope, expires_at: future('expires', given.expires) }
    const made = await withControlPlane(given, ({ call }) => call<Token & { token: string }>('POST', '/api/tokens', body))
    if (given.json) return printJson(made)
    say.success(`Token ${made.id} (${made.label}, ${made.scope}) is made, and shown this once.`)
    console.log(made.token)
  },
})

export const listTokens = action({
  name: 'list',
  description: 'List management tokens.',
  args: { ...JSON_FLAG, ...PLANE },
  async run(given) {
    const tokens = await readQuickly(given, ({ call }) => call<{ data: Token[] }>('GET', '/api/tokens'))
    if (given.json) return printJson(tokens)
    const rows = tokens.data.map((token) => [
      token.id,
      token.label,
      token.token_hint,
      token.scope,
      token.created_by,
      token.expires_at,
      token.last_used_at,
    ])
    console.log(
      table(
        ['ID', 'LABEL', 'SECRET', 'SCOPE', 'MADE BY', 'EXPIRES', 'LAST USED'],
        rows.map((row) => row.map(cell)),
      ),
    )
  },
})

export const revoke = action({
  name: 'revoke',
  description: 'End a management token: here at once, on running servers within two seconds.',
  args: { id: { type: 'positional', required: true, description: 'Number of the token' }, ...JSON_FLAG, ...PLANE },
  async run(given) {
    const token = id(given.id)
    const answer = await withControlPlane(given, ({ call }) => call('DELETE', `/api/tokens/${token}`))
    if (given.json) printJson(answer)
    else say.success(`Token ${token} is revoked.`)
  },
})
