import { describe, expect, it } from 'vitest'
import { migrations } from '../../../plugins/policy/migrations.ts'
import { allPolicies, resetVerdicts, storeMode, storeVerdict } from '../../../plugins/policy/store.ts'
import { ENGINES } from '../../support/engines.ts'

describe.each(ENGINES)('$name', ({ missing, with: engine }) => {
  it.skipIf(missing)('a restriction stays over every later verdict until it is reset, and modes stay over that', () =>
    engine('policy', migrations, async (db) => {
      const verdictOf = async (id: string) => (await allPolicies(db)).find(({ provider_id }) => provider_id === id)
      await storeVerdict(db, 'a', 'ok', null, 1)
      await storeVerdict(db, 'a', 'ok', 'later', 2)
      expect(await verdictOf('a')).toMatchObject({ mode: 'auto', verdict: 'ok', reason: null, observed_at: 1 })
      await storeVerdict(db, 'a', 'restricted', 'no', 3)
      await storeVerdict(db, 'a', 'ok', null, 4)
      await storeVerdict(db, 'a', 'restricted', 'again', 5)
      await storeMode(db, 'a', 'warn')
      await storeMode(db, 'b', 'block')
      expect(await verdictOf('a')).toMatchObject({ mode: 'warn', verdict: 'restricted', reason: 'no', observed_at: 3 })
      await storeVerdict(db, 'b', 'ok', null, 6)
      expect(await verdictOf('b')).toMatchObject({ mode: 'block', verdict: 'ok' })
      expect(await resetVerdicts(db, 'a')).toBe(1)
      expect(await resetVerdicts(db, 'a')).toBe(0)
      expect(await resetVerdicts(db, null)).toBe(1)
      expect(await verdictOf('a')).toMatchObject({ mode: 'warn', verdict: null, reason: null, observed_at: null })
    }),
  )
})
