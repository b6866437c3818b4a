// The package that `hookgate plugin new` writes: its types, its tests and its check, as its author runs them.
import { execFile } from 'node:child_process'
import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { built, folder, hookgateRoot } from './hookgate.ts'
import { command } from './in-process.ts'

const run = promisify(execFile)

it('type-checks, passes its tests, builds, and passes the check', { timeout: 240_000 }, async () => {
  await built()
  const cwd = folder({})
  await command(['plugin', 'new', 'late-answers'], { cwd })
  const dir = join(cwd, 'late-answers')
  // Provides what `npm install` would install.
  mkdirSync(join(dir, 'node_modules', '@types'), { recursive: true })
  const linked = (name: string, from: string) => symlinkSync(from, join(dir, 'node_modules', name))
  for (const name of ['zod', 'typescript', 'vitest', '@types/node']) linked(name, join(hookgateRoot, 'node_modules', name))
  linked('hookgate', hookgateRoot)
  const bin = (...args: string[]) => run(process.execPath, args, { cwd: dir, env: { ...process.env, NO_COLOR: '1' } })
  const tsc = join(hookgateRoot, 'node_modules/typescript/bin/tsc')
  expect((await bin(tsc, '--noEmit', '-p', 'tsconfig.test.json')).stdout).toBe('')
  expect((await bin(join(hookgateRoot, 'node_modules/vitest/vitest.mjs'), 'run')).stdout).toMatch(/Tests +\d+ passed/)
  await bin(tsc)
  // A package finds itself by its name, through `exports`: the way in which its users load it.
  const loaded = await bin(
    '--input-type=module',
    '-e',
    "console.log((await import('hookgate-plugin-late-answers')).default.name)",
  )
  expect(loaded.stdout).not.toBe('')
  const check = await command(['plugin', 'check'], { cwd: dir })
  expect(check.stdout).not.toMatch(/^(?:warn|fail)/m)
  expect(check.code).toBe(0)
})
