#!/usr/bin/env node
// hookgate: the command line.
import { defineCommand, runMain } from 'citty'
import { VERSION } from '../../core/version.ts'
import { envCommand } from './env.ts'
import { hooksCommand } from './hooks.ts'
import { serveCommand } from './serve.ts'

const main = defineCommand({
  meta: {
    name: 'hookgate',
    version: VERSION,
    description: 'An AI gateway whose every feature is a plugin on one typed pipeline.',
  },
  subCommands: { serve: serveCommand, hooks: hooksCommand, env: envCommand },
})

await runMain(main, { rawArgs: withDefault(process.argv.slice(2)) })

/** `hookgate` alone, or with flags only, serves. */
function withDefault(args: string[]): string[] {
  const [first] = args
  const asks = ['--help', '-h', '--version', '-v']
  return first === undefined || (first.startsWith('-') && !asks.includes(first)) ? ['serve', ...args] : args
}
