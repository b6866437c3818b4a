// Writes the pictures in test/dashboard/shots, with which the test of the same name compares the pages.
//
//   npm run shots
import { spawnSync } from 'node:child_process'

const { status } = spawnSync('npx', ['vitest', 'run', '--mode', 'slow', 'test/dashboard/shots'], {
  stdio: 'inherit',
  env: { ...process.env, SHOTS: 'write', REQUIRE_BROWSER: '1' },
})
process.exitCode = status ?? 1
