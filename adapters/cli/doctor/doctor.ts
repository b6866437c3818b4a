// `hookgate doctor`: finds problems of an installation and names the fix. It creates nothing. Like every start, it settles what ended
// processes left behind.
import { action, JSON_FLAG, PLACE } from '../action.ts'
import { type Place, withControlPlane } from '../control-plane/control-plane.ts'
import { showFindings } from '../output/findings.ts'
import { printJson, table } from '../output/table.ts'
import { type Surroundings, surroundings } from '../place.ts'
import { isQuiet } from '../terminal.ts'
import { type Finding, fail, ok, reasonOf } from './finding.ts'

export const doctor = action({
  name: 'doctor',
  description: 'Check configuration, stores, master key and connections; exit 1 when something cannot work.',
  args: {
    test: { type: 'boolean', description: 'Ask each connection with one small request, too; may cost a fraction of a cent' },
    sources: { type: 'boolean', description: 'List each setting with its source' },
    ...JSON_FLAG,
    ...PLACE,
  },
  async run(given) {
    const findings = await examined(given)
    const sources = given.sources ? await settingsOf(given) : null
    const code = findings.some(({ status }) => status === 'fail') ? 1 : 0
    if (given.json) {
      printJson({ data: findings, ...(sources !== null && { sources }) })
      return code
    }
    showFindings(isQuiet() ? findings.filter(({ status }) => status !== 'ok') : findings)
    if (sources !== null) console.log(`\n${sourceTable(sources)}`)
    console.log(`\n${summaryOf(findings)}`)
    return code
  },
})

interface Asked extends Place {
  readonly test?: boolean | undefined
}

async function examined(given: Asked): Promise<Finding[]> {
  const { checkNode, checkSecrets, checkVariables, checkZone } = await import('./variables.ts')
  let place: Surroundings
  try {
    place = await surroundings(given)
  } catch (error) {
    return [checkNode(), fail('configuration', reasonOf(error), 'Correct what is named; `hookgate env` lists every variable.')]
  }
  const [{ checkNetwork }, { checkServer }, { checkStores }] = await Promise.all([
    import('./network.ts'),
    import('./server.ts'),
    import('./stores.ts'),
  ])
  const file = ok(
    'configuration',
    place.path ?? 'No file: every default holds; on the local profile `echo` is the only connection.',
  )
  const { findings, ready } = await checkStores(place)
  return [
    checkNode(),
    file,
    ...checkVariables(place, process.env),
    ...checkZone(place),
    ...checkSecrets(place),
    ...checkNetwork(place),
    ...(await checkServer(place)),
    ...findings,
    ...(await contents(given, place, ready)),
  ]
}

/** When no database is ready, the file is checked on an empty one in memory. */
async function contents(given: Asked, place: Surroundings, ready: boolean): Promise<Finding[]> {
  const { checkContents, loadAlone } = await import('./contents.ts')
  try {
    if (ready)
      return await withControlPlane(given, async (plane) => [
        ...(await checkContents(plane, place)),
        ...(given.test ? await (await import('./trial.ts')).tryConnections(plane) : []),
      ])
    await loadAlone(given)
    return []
  } catch (error) {
    return [fail('gateway', reasonOf(error), 'Correct what is named: `serve` would end with the same words.')]
  }
}

type Sources = Record<string, { readonly source: string; readonly pinned: boolean }>

/** Empty where the gateway cannot be loaded: a finding says why. */
function settingsOf(given: Place): Promise<Sources> {
  return withControlPlane(given, ({ call }) => call<Sources>('GET', '/api/settings/sources')).catch(() => ({}))
}

function sourceTable(sources: Sources): string {
  return table(
    ['SETTING', 'SOURCE', 'PINNED'],
    Object.entries(sources).map(([key, { source, pinned }]) => [key, source, pinned ? 'by the file' : '-']),
  )
}

function summaryOf(findings: readonly Finding[]): string {
  const count = (wanted: Finding['status']) => findings.filter(({ status }) => status === wanted).length
  return `${count('fail')} failed, ${count('warn')} warning${count('warn') === 1 ? '' : 's'}, ${count('ok')} passed`
}
