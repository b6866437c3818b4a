// `hookgate completion`: prints a script that completes commands, subcommands and flags in bash, zsh and fish.
import type { ArgsDef, CommandDef } from 'citty'
import { action } from './action.ts'
import { COMMANDS, type Group, type Load } from './commands.ts'
import { failUsage } from './fail.ts'

/** Words that may follow a path of commands: for `''` the commands, for `key` its subcommands, for `key create` its flags. */
type Words = ReadonlyMap<string, readonly string[]>

const SHELLS: Readonly<Record<string, (words: Words) => string>> = { bash, zsh, fish }

export const completion = action({
  name: 'completion',
  description: 'Print a completion script: `source <(hookgate completion bash)`.',
  args: { shell: { type: 'positional', description: `the shell: ${Object.keys(SHELLS).join(', ')}` } },
  async run(given) {
    const shell = String(given.shell)
    const script = Object.hasOwn(SHELLS, shell) ? SHELLS[shell] : undefined
    if (script === undefined)
      return failUsage(
        `There is no completion for \`${shell.slice(0, 60)}\`. There is one for ${Object.keys(SHELLS).join(', ')}.`,
      )
    console.log(script(await words()))
  },
})

async function words(): Promise<Words> {
  const found = new Map<string, readonly string[]>([['', Object.keys(COMMANDS)]])
  for (const [name, entry] of Object.entries(COMMANDS)) {
    if (typeof entry === 'function') found.set(name, await flags(entry))
    else await addGroup(found, name, entry)
  }
  return found
}

async function addGroup(found: Map<string, readonly string[]>, name: string, { alone, commands }: Group): Promise<void> {
  found.set(name, [...Object.keys(commands), ...(alone === undefined ? [] : await flags(alone))])
  for (const [sub, load] of Object.entries(commands)) found.set(`${name} ${sub}`, await flags(load))
}

async function flags(load: Load): Promise<string[]> {
  const { args = {} } = (await load()) as CommandDef & { args?: ArgsDef }
  return [...Object.entries(args).flatMap(([name, { type }]) => (type === 'positional' ? [] : [`--${name}`])), '--help']
}

function bash(words: Words): string {
  const cases = [...words].map(([path, next]) => `    '${path}') words='${next.join(' ')}' ;;`)
  return `_hookgate() {
  local path='' word words=''
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [[ $word == -* ]] && break
    path="\${path:+$path }$word"
  done
  case "$path" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _hookgate hookgate`
}

function zsh(words: Words): string {
  return `autoload -U +X bashcompinit && bashcompinit\n${bash(words)}`
}

function fish(words: Words): string {
  const lines = [...words].flatMap(([path, next]) => {
    const commands = path.split(' ').filter((word) => word !== '')
    const seen = commands.map((word) => `__fish_seen_subcommand_from ${word}`).join('; and ')
    const siblings = next.filter((word) => !word.startsWith('--'))
    const unless = siblings.length === 0 ? '' : `not __fish_seen_subcommand_from ${siblings.join(' ')}`
    const when = [seen, unless].filter((part) => part !== '').join('; and ')
    return next.map((word) =>
      word.startsWith('--')
        ? `complete -c hookgate -n '${seen}' -l ${word.slice(2)}`
        : `complete -c hookgate -f -n '${when}' -a ${word}`,
    )
  })
  return lines.join('\n')
}
