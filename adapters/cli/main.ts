#!/usr/bin/env node
// hookgate: starts the command line.
import { VERSION } from '../../core/version.ts'
import { keepCompiledCode } from './code-cache.ts'
import { readDotEnvOfProcess } from './dot-env.ts'

keepCompiledCode(process.env)
readDotEnvOfProcess()
const args = process.argv.slice(2)
if (args[0] === '--version' || args[0] === '-v') console.log(VERSION)
else if (args[0] === 'completion' && args[1] === 'values' && args.length === 3) {
  // A shell waits for this: the command line itself takes longer to load.
  const { databaseValues, VALUE_KINDS } = await import('./completion/values.ts')
  const kind = VALUE_KINDS.find((one) => one === args[2])
  const values = kind === undefined ? [] : databaseValues(kind, process.env)
  if (values.length > 0) console.log(values.join('\n'))
} else {
  const { runCommandLine } = await import('./command-line.ts')
  const code = await runCommandLine(args)
  // A failed command may have left handles open, so exit. A successful one may be a running server.
  if (code !== 0) process.exit(code)
}
