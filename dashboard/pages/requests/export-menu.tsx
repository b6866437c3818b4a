// Saves the requests that the filter finds as a file: metadata, newest first, never bodies.

import { csvText } from '../../../core/text/csv-text.ts'
import { answerOf, api } from '../../api/client.ts'
import type { Got } from '../../api/query.ts'
import { saveFile } from '../../api/save-file.ts'
import { count } from '../../app/format.ts'
import { Button } from '../../ui/button.tsx'
import { Menu } from '../../ui/menu.tsx'

type Logged = Got<'/api/logs'>['data'][number]

const PAGE = 200
/** Larger files are for `hookgate logs` and the reports. */
const MOST = 2000

export function ExportMenu({ query }: { query: Readonly<Record<string, string>> }) {
  return (
    <Menu title="Export ▾">
      <p class="quiet">The newest {count(MOST)} requests that the filter finds, without bodies.</p>
      <Button onClick={async () => saveFile('requests.jsonl', 'application/x-ndjson', linesOf(await found(query)))}>
        JSON lines
      </Button>
      <Button onClick={async () => saveFile('requests.csv', 'text/csv', tableOf(await found(query)))}>CSV</Button>
    </Menu>
  )
}

async function found(query: Readonly<Record<string, string>>): Promise<Logged[]> {
  const rows: Logged[] = []
  for (let cursor: string | null = null; rows.length < MOST; ) {
    const page: Got<'/api/logs'> = await answerOf(
      api.GET('/api/logs', {
        params: { query: { ...query, limit: String(PAGE), ...(cursor !== null && { cursor }) } as never },
      }),
    )
    rows.push(...page.data)
    cursor = page.next_cursor
    if (cursor === null) break
  }
  return rows.slice(0, MOST)
}

function linesOf(rows: readonly Logged[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join('')
}

function tableOf(rows: readonly Logged[]): string {
  const flat = rows.map(({ tokens, ...row }) => ({ ...row, tokens_in: tokens.prompt, tokens_out: tokens.completion }))
  const names = Object.keys(flat[0] ?? {}) as (keyof (typeof flat)[number])[]
  return [names, ...flat.map((row) => names.map((name) => row[name]))]
    .map((cells) => `${cells.map((cell) => csvText(cell === null ? '' : String(cell))).join(',')}\r\n`)
    .join('')
}
