// `hookgate password hash`: prints a value for GATEWAY_DASHBOARD_PASSWORD_HASH.
import { action, JSON_FLAG } from '../action.ts'
import { readSecret } from '../flag-values.ts'
import { printJson, say } from '../output/table.ts'

export const hash = action({
  name: 'hash',
  description: 'Print the Argon2 hash of a password, read from standard input or asked for.',
  args: { ...JSON_FLAG },
  async run(given) {
    const password = await readSecret('the password', ['Password: ', 'Again: '])
    const { hashPassword } = await import('../../../plugins/sign-in/password.ts')
    const phc = await hashPassword(password)
    if (given.json) return printJson({ hash: phc })
    say.info('For GATEWAY_DASHBOARD_PASSWORD_HASH. Where a shell reads it, keep it in single quotes: it has `$` in it.')
    console.log(phc)
  },
})
