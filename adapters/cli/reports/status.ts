// `hookgate status`: prints what needs attention, the critical first.
import { action, JSON_FLAG, PLANE } from '../action.ts'
import { readControlPlane } from '../control-plane/control-plane.ts'
import { localTime } from '../output/figures.ts'
import { cell, printable, printJson, say, styled, table } from '../output/table.ts'
import { isServed, serverAddress } from '../server-address.ts'

interface Item {
  severity: 'critical' | 'warning'
  kind: string
  title: string
  since: string | null
  effect: string | null
}

export const statusCommand = action({
  name: 'status',
  description: 'Print what needs attention, from the database; exit 1 when something is critical.',
  args: { ...JSON_FLAG, ...PLANE },
  async run(given) {
    const { found, server } = await readControlPlane(given, async (plane) => ({
      found: await plane.call<{ data: Item[] }>('GET', '/api/attention'),
      server: given.url === undefined ? serverAddress(plane.gateway.env) : null,
    }))
    const critical = found.data.filter(({ severity }) => severity === 'critical').length
    const code = critical > 0 ? 1 : 0
    if (given.json) {
      printJson(found)
      return code
    }
    if (server !== null)
      say.info(
        (await isServed(server))
          ? `Open circuits are in the memory of the server: \`hookgate status --url ${server}\` lists them too.`
          : `No server answers on ${server}. This is the state of the database.`,
      )
    if (found.data.length === 0) {
      say.success('Nothing needs attention.')
      return code
    }
    const rows = found.data.map(({ severity, kind, since, title }) => [
      severity,
      kind,
      since === null ? '-' : localTime(since),
      cell(title),
    ])
    console.log(table(['SEVERITY', 'KIND', 'SINCE', 'WHAT'], rows, { critical: 'red', warning: 'yellow' }))
    const effects = found.data.flatMap(({ kind, effect }) => (effect === null ? [] : [`${kind}: ${printable(effect)}`]))
    if (effects.length > 0) console.log(`\n${[...new Set(effects)].map((line) => styled(line, 'dim')).join('\n')}`)
    return code
  },
})
