// Shortens test runs: keeps failures with all their details and the summary, and removes only lines about passed tests.
import type { Filter } from './filter.ts'
import { squeezed } from './lines.ts'

const SUMMARY: readonly RegExp[] = [
  /^\s*Tests:?\s+.*\b\d+ (?:passed|failed)/,
  /^=+ .*\b\d+ (?:passed|failed|errors?)\b.* =+$/,
  /^test result: (?:ok|FAILED)\. \d+ passed/,
  /^\s*\d+ passing\b/,
  /^(?:ok|FAIL|---\s+FAIL:)\s+\S+/,
  /^Ran \d+ tests? in /,
  /^\s*# pass \d+/,
]
const PASSED: readonly RegExp[] = [
  /^\s*[✓✔√] /,
  /^ok\s+\S+\s+(?:\(cached\)|[\d.]+m?s)/,
  /^\s*ok \d+ /,
  /^test .* \.\.\. ok$/,
  /^\s*--- PASS:/,
  /^=== (?:RUN|PAUSE|CONT) /,
  /^PASS(?:\s|$)/,
  / PASSED(?: +\[ *\d+%\])?$/,
  /\.\.\. ok$/,
  /^\S+\.py \.+(?:\s+\[\s*\d+%\])?$/,
]

export const testRun: Filter = {
  id: 'test-run',
  title: 'Test runs',
  description: 'Drops the lines of tests that passed; failures stay with all that is said about them, and so does the summary.',
  detects: 'The summary of a test runner: vitest, jest, pytest, cargo, go, mocha, unittest, tap.',
  limits: {},
  early: isTestRun,
  detect: isTestRun,
  shorten(lines) {
    let dropped = 0
    const kept = lines.filter((line) => {
      const passed = PASSED.some((pattern) => pattern.test(line))
      if (passed) dropped++
      return !passed
    })
    return dropped === 0 ? null : [`${dropped} lines of passing tests left out`, ...squeezed(kept)]
  },
}

function isTestRun({ head, tail }: { head: readonly string[]; tail: readonly string[] }): boolean {
  return [...head, ...tail].some((line) => SUMMARY.some((pattern) => pattern.test(line)))
}
