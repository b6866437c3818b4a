// A home of its own for each test file: what keeps its data in the user's data directory keeps it here, and it goes with the file.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'

const home = mkdtempSync(join(tmpdir(), 'hookgate-home-'))
process.env.HOME = home
delete process.env.XDG_DATA_HOME

afterAll(() => rmSync(home, { recursive: true, force: true, maxRetries: 3 }))
