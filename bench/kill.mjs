// node bench/kill.mjs [--cycles 100] [--seed 1] [--url postgres://…]: kill -9 during database writes, with figures. Without a URL: SQLite
// in a temporary directory. A database from a URL gets the tables `ledger` and `ledger_twin`.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createJiti } from 'jiti'

const { values } = parseArgs({
  options: {
    cycles: { type: 'string', default: '100' },
    seed: { type: 'string', default: '1' },
    url: { type: 'string' },
  },
})

const { killCycles } = await createJiti(import.meta.url).import('../test/support/kill-cycles.ts')
const dir = mkdtempSync(join(tmpdir(), 'hookgate-kill-'))
try {
  const figures = await killCycles({ url: values.url ?? null, dir, cycles: Number(values.cycles), seed: Number(values.seed) })
  console.table([figures])
  if (figures.lost + figures.torn + figures.damaged > 0) process.exitCode = 1
} finally {
  rmSync(dir, { recursive: true })
}
