// `hookgate audit verify`: verifies the audit chain.
import { action, JSON_FLAG, PLANE } from '../action.ts'
import { readControlPlane } from '../control-plane/control-plane.ts'
import { printJson, say } from '../output/table.ts'

interface Report {
  ok: boolean
  from_seq: number | null
  to_seq: number | null
  first_bad_seq: number | null
}

export const verify = action({
  name: 'verify',
  description: 'Walk the audit chain; exit 1 when an entry was altered or is missing.',
  args: { ...JSON_FLAG, ...PLANE },
  async run(given) {
    const report = await readControlPlane(given, ({ call }) => call<Report>('GET', '/api/audit/verify'))
    if (given.json) {
      printJson(report)
      return report.ok ? 0 : 1
    }
    const { ok, from_seq, to_seq, first_bad_seq } = report
    if (!ok)
      throw new Error(`The audit chain is broken at entry ${first_bad_seq}: it was altered, or the one before it is missing.`)
    say.success(to_seq === null ? 'The audit log is empty.' : `Entries ${from_seq} to ${to_seq} are whole.`)
    return 0
  },
})
