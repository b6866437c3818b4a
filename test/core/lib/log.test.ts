import { expect, it } from 'vitest'
import { fakeClock } from '../../../adapters/testing/fake-clock.ts'
import { storageUnavailable } from '../../../core/db/storage-fault.ts'
import { jsonLog } from '../../../core/log.ts'

it('an error in a line says what it says, and what is behind it', () => {
  const lines: string[] = []
  const log = jsonLog(fakeClock(), { write: (line) => void lines.push(line) })
  log.error('failed', { error: new TypeError('no such thing') })
  log.warn('away', { error: storageUnavailable('it is away.', new Error('connect ECONNREFUSED')), inside: [new Error('deep')] })
  const [failed, away] = lines.map((line) => JSON.parse(line) as { error: string; inside: string[] })
  expect(failed?.error).toMatch(/^TypeError: no such thing\n\s+at /)
  expect(away?.error).toMatch(/cannot be used now: it is away\. Cause: Error: connect ECONNREFUSED/)
  expect(away?.inside[0]).toMatch(/^Error: deep/)
})
