// A home of its own for each test file: what keeps its data in the user's data directory keeps it here, and it goes with the file.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll } from 'vitest'

const home = mkdtempSync(join(tmpdir(), 'hookgate-home-'))
process.env.HOME = home
delete process.env.XDG_DATA_HOME
// Nothing of a test reaches outside.
process.env.GATEWAY_PRICING_SYNC_ENABLED = 'false'

// Properties draw the same examples each time; another seed looks further: TEST_SEED=2 npx vitest run.
fc.configureGlobal({ seed: Number(process.env.TEST_SEED ?? 1) })

afterAll(() => rmSync(home, { recursive: true, force: true, maxRetries: 3 }))
