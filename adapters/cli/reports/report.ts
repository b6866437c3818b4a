// `hookgate report`: writes exact sums of a time window for a spreadsheet or a warehouse, in the API's format.
import { createWriteStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { action, PLANE } from '../action.ts'
import { queryOf, readControlPlane, WINDOW } from '../control-plane/control-plane.ts'
import { failUsage } from '../fail.ts'
import { say } from '../output/table.ts'

const FORMATS = ['csv', 'json', 'parquet']

export const reportCommand = action({
  name: 'report',
  description: 'Write exact sums of what was used and what it cost, as CSV, JSON or Parquet.',
  args: {
    format: { type: 'string', description: 'csv, json or parquet; default: csv', valueHint: 'format' },
    out: { type: 'string', description: 'File to write; default: standard output', valueHint: 'file' },
    ...WINDOW,
    'group-by': {
      type: 'string',
      description: 'Columns, between commas: org, key, cost_center, user, provider, model, virtual_model, day, month, source',
      valueHint: 'columns',
    },
    ...PLANE,
  },
  fields: { window: 'window', since: 'since', until: 'until', group_by: 'group-by', format: 'format' },
  async run({ format = 'csv', out, window, since, until, 'group-by': by, ...given }) {
    if (!FORMATS.includes(format)) failUsage(`\`--format\`: \`${format.slice(0, 60)}\` is none of ${FORMATS.join(', ')}.`)
    if (format === 'parquet' && out === undefined && process.stdout.isTTY)
      failUsage('Parquet is nothing for a terminal: name a file with `--out`.')
    const path = `/api/reports${queryOf({ window, since, until, group_by: by, format })}`
    await readControlPlane(given, async ({ download }) => {
      const { body } = await download(path)
      const target = out === undefined ? process.stdout : createWriteStream(out)
      if (body !== null)
        await pipeline(Readable.fromWeb(body as import('node:stream/web').ReadableStream), target, { end: out !== undefined })
    })
    if (out !== undefined) say.success(`${out} is written.`)
  },
})
