// Finds the command of a command line, loads and runs it, and prints its failure.
import { stripVTControlCharacters } from 'node:util'
import { type CommandDef, defineCommand, renderUsage, runCommand } from 'citty'
import { VERSION } from '../../core/version.ts'
import { ABOUTS } from './abouts.ts'
import { closest } from './closest.ts'
import { COMMANDS, type Group, type Load } from './commands.ts'
import { failUsage, Interrupted, threeLines, WrongUsage } from './fail.ts'
import { coloured, printable, say, styled } from './output/table.ts'
import { overviewText } from './overview.ts'

/** As a shell reports Ctrl-C. */
const INTERRUPTED = 130

/** @returns the exit code: 0, 1 for a failure, 2 for wrong usage, 3 for a plan with changes, 130 for an interrupted question. After 0 a server may continue to run. */
export async function runCommandLine(args: readonly string[]): Promise<number> {
  let ran = ['hookgate']
  try {
    const [first = 'serve', ...more] = args
    if (first === 'help') return await runCommandLine([...more, '--help'])
    if (first === '--help' || first === '-h') {
      console.log(overviewText(abouts()))
      return 0
    }
    const { path, load, rest } = found(args)
    ran = [...path]
    const command = await load()
    if (rest.includes('--help') || rest.includes('-h')) {
      const above = defineCommand({ meta: { name: path.slice(0, -1).join(' '), version: VERSION } })
      const usage = await renderUsage(command, path.length > 1 ? above : undefined)
      console.log(`${coloured() ? usage : stripVTControlCharacters(usage)}\n`)
      return 0
    }
    const { result } = await runCommand(command, { rawArgs: rest })
    return typeof result === 'number' ? result : 0
  } catch (error) {
    if (error instanceof Interrupted) return INTERRUPTED
    const { what, why, fix } = threeLines(error, ran)
    say.error(what)
    process.stderr.write(`  ${styled('why', 'dim')}  ${printable(why)}\n`)
    process.stderr.write(`  ${styled('fix', 'dim')}  ${printable(fix)}\n`)
    return error instanceof WrongUsage ? 2 : 1
  }
}

interface Found {
  /** Starts with `hookgate`. */
  readonly path: readonly string[]
  readonly load: Load
  readonly rest: string[]
}

/** Without a command, or with flags only, `hookgate` serves. @throws WrongUsage */
function found(args: readonly string[]): Found {
  const [first = 'serve', second, ...more] = args
  if (first.startsWith('-')) return { path: ['hookgate', 'serve'], load: COMMANDS.serve as Load, rest: [...args] }
  if (!Object.hasOwn(COMMANDS, first)) return failUsage(unknown('', first, COMMANDS))
  const entry = COMMANDS[first] as Load | Group
  if (typeof entry === 'function') return { path: ['hookgate', first], load: entry, rest: args.slice(1) }
  if (entry.alone !== undefined && (second === undefined || (second.startsWith('-') && !isHelp(second))))
    return { path: ['hookgate', first], load: entry.alone, rest: args.slice(1) }
  if (second !== undefined && isHelp(second))
    return { path: ['hookgate', first], load: async () => groupCommand(first, entry), rest: ['--help'] }
  if (second === undefined) return failUsage(`\`${first}\` needs a subcommand. ${known(`${first} `, entry.commands)}`)
  const load = Object.hasOwn(entry.commands, second) ? entry.commands[second] : undefined
  if (load === undefined) return failUsage(unknown(`${first} `, second, entry.commands))
  return { path: ['hookgate', first, second], load, rest: more }
}

function isHelp(word: string): boolean {
  return word === '--help' || word === '-h'
}

function unknown(prefix: string, word: string, commands: object): string {
  const suggested = closest(word, Object.keys(commands))
  const wrong = `There is no command \`${prefix}${word.slice(0, 60)}\`.`
  return suggested === null ? `${wrong} ${known(prefix, commands)}` : `${wrong} Did you mean \`${prefix}${suggested}\`?`
}

function known(prefix: string, commands: object): string {
  const names = Object.keys(commands)
  return `There ${names.length === 1 ? 'is' : 'are'} ${names.join(', ')}; see \`hookgate ${prefix}--help\`.`
}

function abouts(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(COMMANDS).map(([name, entry]) => [name, typeof entry === 'function' ? (ABOUTS[name] ?? '') : entry.about]),
  )
}

function groupCommand(name: string, { about, commands }: Group): CommandDef {
  return defineCommand({ meta: { name, description: about }, subCommands: { ...commands } })
}
