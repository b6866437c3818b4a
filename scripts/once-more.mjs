// node scripts/once-more.mjs report.json: what CI does when the suite fails. Files that failed run once more, by themselves; they
// are named, since what fails only beside others is a defect of its own. Ends with 0 when all of them pass alone.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { relative } from 'node:path'

/** More than that is no matter of chance. */
const MOST = 3

const { testResults } = JSON.parse(readFileSync(process.argv[2], 'utf8'))
const failed = testResults.filter(({ status }) => status === 'failed')
const names = failed.map(({ name }) => relative(process.cwd(), name))
if (names.length === 0 || names.length > MOST) {
  console.error(`${names.length} test files failed: nothing is tried again.`)
  process.exit(1)
}
console.error(`Once more, by themselves: ${names.join(', ')}`)
const { status } = spawnSync('npx', ['vitest', 'run', '--maxWorkers', '1', ...names], { stdio: 'inherit' })
if (status !== 0) process.exit(1)
console.error('Passed alone, and failed beside others. To be mended:')
for (const { assertionResults } of failed)
  for (const { status, fullName } of assertionResults) if (status === 'failed') console.error(`  ${fullName}`)
