// `hookgate completion`: prints a script that completes commands, flags and values in bash, zsh, fish and PowerShell.
import { action } from '../action.ts'
import { failUsage } from '../fail.ts'

export const completion = action({
  name: 'completion',
  description: 'Print a completion script: `source <(hookgate completion bash)`.',
  args: { shell: { type: 'positional', description: 'the shell: bash, zsh, fish, powershell' } },
  rest: true,
  async run(given) {
    const [shell = '', kind = '', ...more] = given._
    if (shell === 'values') return printValues(kind)
    const extra = [kind, ...more].find((word) => word !== '')
    if (extra !== undefined) failUsage(`\`${extra.slice(0, 60)}\` is one word too many.`)
    const [{ SCRIPTS }, { allWords }] = await Promise.all([import('./scripts.ts'), import('./words.ts')])
    const script = Object.hasOwn(SCRIPTS, shell) ? SCRIPTS[shell] : undefined
    if (script === undefined)
      return failUsage(
        `There is no completion for \`${shell.slice(0, 60)}\`. There is one for ${Object.keys(SCRIPTS).join(', ')}.`,
      )
    console.log(script(await allWords()))
  },
})

/** The scripts ask for these; main.ts takes a shorter way to them. @throws WrongUsage */
async function printValues(kind: string): Promise<void> {
  const { databaseValues, VALUE_KINDS } = await import('./values.ts')
  const known = VALUE_KINDS.find((one) => one === kind)
  if (known === undefined) return failUsage(`There are no values \`${kind.slice(0, 60)}\`. There are ${VALUE_KINDS.join(', ')}.`)
  const values = databaseValues(known, process.env)
  if (values.length > 0) console.log(values.join('\n'))
}
