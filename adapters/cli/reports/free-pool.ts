// `hookgate free-pool`: prints the limits of the free pool and what is used of them.
import { action, JSON_FLAG, PLANE } from '../action.ts'
import { readControlPlane } from '../control-plane/control-plane.ts'
import { count } from '../output/figures.ts'
import { cell, printJson, say, table } from '../output/table.ts'

type Windows<T> = Readonly<Record<'hour' | 'day' | 'week', T>>

interface FreePool {
  enabled: boolean
  vm: string
  shadowed: boolean
  limits: Windows<number | null>
  used: Windows<number>
  /** `used` null: only system administrators see it. */
  global: { cap: number | null; used: number | null }
  verified_required: boolean
}

export const freePoolCommand = action({
  name: 'free-pool',
  description: 'Show the limits of the free pool and what is used of them.',
  args: { ...JSON_FLAG, ...PLANE },
  async run(given) {
    const pool = await readControlPlane(given, ({ call }) => call<FreePool>('GET', '/api/free-pool'))
    if (given.json) return printJson(pool)
    const { enabled, vm, shadowed, limits, used, global, verified_required } = pool
    if (!enabled) say.info('No connection is shared. Set `metadata.free_pool: true` on one of the gateway’s own connections.')
    if (shadowed) say.info(`A virtual model of your own has the name ${cell(vm)} and answers instead.`)
    console.log(`model   ${cell(vm)}`)
    console.log(`e-mail  ${verified_required ? 'callers need a verified address' : 'not checked'}\n`)
    const rows = [
      row('last hour', used.hour, limits.hour),
      row('last 24 hours', used.day, limits.day),
      row('last 7 days', used.week, limits.week),
      row('all organizations, this UTC day', global.used, global.cap),
    ]
    const head = ['WINDOW', 'USED', 'LIMIT']
    console.log(table(head, rows, {}, head.slice(1)))
  },
})

function row(name: string, used: number | null, limit: number | null): string[] {
  return [name, used === null ? '–' : count(used), limit === null ? 'none' : count(limit)]
}
