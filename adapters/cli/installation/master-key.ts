// `hookgate master-key rotate`: replaces the master key of all sealed values while servers run.
import { action, JSON_FLAG, PLACE } from '../action.ts'
import { failUsage } from '../fail.ts'
import { secret } from '../flag-values.ts'
import { printJson, say } from '../output/table.ts'
import { existingDatabase, type Surroundings, surroundings } from '../place.ts'

export const rotate = action({
  name: 'rotate',
  description:
    'Seal the database under a new master key. A key in a file is replaced by a fresh one; a key in GATEWAY_MASTER_KEY by the one that --to names, ' +
    'and then every replica must be restarted with it in the variable. Backups from before can only be opened with the former key: keep it with them.',
  args: {
    to: {
      type: 'string',
      description:
        'The new key, for GATEWAY_MASTER_KEY: `-` reads standard input, `env:NAME` a variable. Make one with: openssl rand -base64 32',
      valueHint: 'key',
    },
    ...JSON_FLAG,
    ...PLACE,
  },
  async run(given) {
    const place = await surroundings(given)
    const [{ loadMasterKey }, { rotateKeyFile, rotateMasterKey }, { parseKey }, { hasKeyTable }] = await Promise.all([
      import('../../vault/master-key.ts'),
      import('../../vault/rotate.ts'),
      import('../../vault/key-text.ts'),
      import('../../vault/key-table.ts'),
    ])
    const masterKey = loadMasterKey(keyOptions(place))
    const { path, variable } = masterKey
    if (path !== null && given.to !== undefined)
      failUsage(`\`--to\` is for a key in GATEWAY_MASTER_KEY; here the key is in ${path}, and its successor is made for you.`)
    if (path === null && given.to === undefined) failUsage('`--to` is missing: the new key, as `-` or `env:NAME`.')
    const to = given.to === undefined ? null : parseKey(await secret('to', given.to), '--to')
    const db = await existingDatabase(place)
    if (db === null) throw new Error('There is no database yet, so nothing is sealed. Start the gateway once.')
    try {
      if (!(await hasKeyTable(db)))
        throw new Error('The database has no vault yet, so nothing is sealed. Start the gateway once.')
      const { rewrapped, keyId } =
        path !== null
          ? await rotateKeyFile({ db, path, variable })
          : await rotateMasterKey({ db, from: (await masterKey.read())[0] as Uint8Array, to: to as Uint8Array })
      if (given.json) return printJson({ rewrapped, key_id: keyId, path })
      say.success(
        `${rewrapped} keys are sealed under the master key ${keyId} now${path === null ? '' : `, which is in ${path}`}.`,
      )
      if (path === null)
        say.warn('Put the new key into GATEWAY_MASTER_KEY of every replica, and restart them: with the former one none starts.')
      say.warn('Backups from before can only be opened with the former key: keep it with them.')
    } finally {
      await db.close()
    }
  },
})

/** Returns the key options as `serve` reads them. */
export function keyOptions({ env, dataDir, file, databaseUrl }: Surroundings) {
  return {
    key: env.get<string | null>('MASTER_KEY'),
    path: env.get<string | null>('MASTER_KEY_PATH'),
    dataDir,
    profile: env.get<'local' | 'cloud'>('PROFILE'),
    ephemeral: file === null && !/^postgres/.test(databaseUrl ?? ''),
  }
}
