#!/usr/bin/env node
// hookgate: the command line. Exit codes: 0, 1 for a failure, 2 for a wrong command line.
import { defineCommand, runMain } from 'citty'
import { VERSION } from '../../core/version.ts'
import { envCommand } from './env.ts'
import { failUsage } from './fail.ts'
import { hooksCommand } from './hooks.ts'
import { serveCommand } from './serve.ts'

const subCommands = { serve: serveCommand, hooks: hooksCommand, env: envCommand }

const main = defineCommand({
  meta: {
    name: 'hookgate',
    version: VERSION,
    description: 'An AI gateway whose every feature is a plugin on one typed pipeline.',
  },
  subCommands,
})

await runMain(main, { rawArgs: withDefault(process.argv.slice(2)) })

/** `hookgate` alone, or with flags only, serves. */
function withDefault(args: string[]): string[] {
  const [first] = args
  if (first === undefined) return ['serve']
  if (['--help', '-h', '--version', '-v'].includes(first)) return args
  if (first.startsWith('-')) return ['serve', ...args]
  if (!Object.hasOwn(subCommands, first))
    failUsage(`There is no command \`${first}\`. There are ${Object.keys(subCommands).join(', ')}; see \`hookgate --help\`.`)
  return args
}
