// node scripts/once-more.mjs report.json [vitest options]: runs the failed files once more, one at a time, and names them. Exits with 0
// when all of them pass alone. A test that fails only beside others is still a bug: fix it.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { relative } from 'node:path'

/** With more failed files the cause is not chance. */
const MOST = 3

const [report, ...options] = process.argv.slice(2)
const { testResults } = JSON.parse(readFileSync(report, 'utf8'))
const failed = testResults.filter(({ status }) => status === 'failed')
const names = failed.map(({ name }) => relative(process.cwd(), name))
if (names.length === 0 || names.length > MOST) {
  console.error(`${names.length} test files failed: none is run again.`)
  process.exit(1)
}
console.error(`Running again, one at a time: ${names.join(', ')}`)
const { status } = spawnSync('npx', ['vitest', 'run', '--maxWorkers', '1', ...options, ...names], { stdio: 'inherit' })
if (status !== 0) process.exit(1)
console.error('These tests passed alone and failed beside others. Fix them:')
for (const { assertionResults } of failed)
  for (const { status, fullName } of assertionResults) if (status === 'failed') console.error(`  ${fullName}`)
