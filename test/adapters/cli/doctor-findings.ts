// Runs `hookgate doctor` and returns its findings.
import { expect } from 'vitest'
import { folder } from './hookgate.ts'
import { command } from './in-process.ts'

interface Finding {
  check: string
  status: 'ok' | 'warn' | 'fail'
  message: string
  fix?: string
}

/** `said`: warnings of loading the gateway. */
export async function doctor(
  env: Record<string, string> = {},
  files: Record<string, string> = {},
  dir = folder({}),
  said = /^$/,
) {
  const { code, stdout, stderr } = await command(['doctor', '--json'], {
    cwd: folder(files),
    env: { GATEWAY_DATA_DIR: dir, ...env },
  })
  expect(stderr).toMatch(said)
  const findings = (JSON.parse(stdout) as { data: Finding[] }).data
  const of = (check: string) => findings.filter((finding) => finding.check === check)
  for (const { status, fix } of findings) expect(fix === undefined).toBe(status === 'ok')
  expect(code).toBe(findings.some(({ status }) => status === 'fail') ? 1 : 0)
  return { findings, of, dir }
}

export const config = (text: string) => ({
  'gateway.config.ts': `import { defineConfig } from 'hookgate'\nexport default defineConfig(${text})`,
})
export const finding = (status: string, message: RegExp) =>
  expect.objectContaining({ status, message: expect.stringMatching(message) })
