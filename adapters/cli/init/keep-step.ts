// Where `hookgate init` keeps the connection: in a new gateway.config.ts, or in the database.
import { relative } from 'node:path'
import { type ControlPlane, type Place, withControlPlane } from '../control-plane/control-plane.ts'
import { configText, keepInDotEnv, writeConfig } from './config-file.ts'
import { existingConfig } from './existing-config.ts'
import type { Connected } from './provider-step.ts'

export interface Kept {
  readonly where: 'file' | 'database' | 'already'
  /** For people. */
  readonly words: string
}

interface Row {
  readonly id: number
  readonly provider: string
  readonly label: string
}

/** Stores the connection once. @param wanted where; a file that exists is not changed. */
export async function keep(place: Place, connected: Connected, wanted: 'file' | 'database'): Promise<Kept> {
  const { draft, variable } = connected
  const file = await existingConfig(place)
  const same = ({ provider, label }: Row): boolean => provider === draft.provider && label === draft.label
  if (wanted === 'file' && file.path === null) return inFile(place, connected)
  if (file.connections.some(([label, provider]) => same({ id: 0, label, provider })))
    return {
      where: 'already',
      words: `${relative(process.cwd(), file.path ?? '')} declares connections.${draft.label} already; it is not changed`,
    }
  return withControlPlane(place, async ({ call }) => {
    const { data } = await call<{ data: Row[] }>('GET', '/api/providers')
    const row = data.find(same)
    if (row !== undefined)
      return { where: 'already', words: `connection ${row.id} (${draft.provider}/${draft.label}) is there already` }
    const { provider, label, apiKey, baseUrl, wireFormat } = draft
    const made = await call<Row>('POST', '/api/providers', {
      provider,
      label,
      api_key: apiKey,
      base_url: baseUrl,
      wire_format: wireFormat,
    })
    const why = wanted === 'file' ? `; ${relative(process.cwd(), file.path ?? '')} exists and is not changed` : ''
    const key = variable === null ? '' : ', its key sealed'
    return { where: 'database', words: `connection ${made.id} in the database${key}${why}` }
  })
}

async function inFile(place: Place, { draft, variable, isSet }: Connected): Promise<Kept> {
  const folder = process.cwd()
  const inEnv = variable !== null && !isSet && draft.apiKey !== undefined
  if (inEnv) {
    keepInDotEnv(folder, variable, draft.apiKey)
    process.env[variable] = draft.apiKey
  }
  writeConfig(folder, configText(draft, variable))
  await withControlPlane(place, ({ gateway }: ControlPlane) => gateway.apply('cli'))
  const secret = variable === null ? '' : ` with secret.env('${variable}')${inEnv ? '; the key is in .env, mode 0600' : ''}`
  return { where: 'file', words: `gateway.config.ts${secret}` }
}
