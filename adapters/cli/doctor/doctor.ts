// `hookgate doctor`: finds problems of an installation and names the fix. It creates nothing. Like every start, it settles what ended
// processes left behind.
import { action, JSON_FLAG, PLACE } from '../action.ts'
import { type Place, withControlPlane } from '../control-plane/control-plane.ts'
import { showFindings } from '../output/findings.ts'
import { printJson } from '../output/table.ts'
import { type Surroundings, surroundings } from '../place.ts'
import { type Finding, fail, ok, reasonOf } from './finding.ts'

export const doctor = action({
  name: 'doctor',
  description: 'Check configuration, stores, master key and connections; exit 1 when something cannot work.',
  args: { ...JSON_FLAG, ...PLACE },
  async run(given) {
    const findings = await examined(given)
    const code = findings.some(({ status }) => status === 'fail') ? 1 : 0
    if (given.json) {
      printJson({ data: findings })
      return code
    }
    showFindings(findings)
    return code
  },
})

async function examined(given: Place): Promise<Finding[]> {
  const { checkNode, checkSecrets, checkVariables } = await import('./variables.ts')
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
    ...checkSecrets(place),
    ...checkNetwork(place),
    ...(await checkServer(place)),
    ...findings,
    ...(await contents(given, place, ready)),
  ]
}

/** When no database is ready, the file is checked on an empty one in memory. */
async function contents(given: Place, place: Surroundings, ready: boolean): Promise<Finding[]> {
  const { checkContents, loadAlone } = await import('./contents.ts')
  try {
    if (ready) return await withControlPlane(given, (plane) => checkContents(plane, place))
    await loadAlone(given)
    return []
  } catch (error) {
    return [fail('gateway', reasonOf(error), 'Correct what is named: `serve` would end with the same words.')]
  }
}
