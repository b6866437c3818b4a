#!/usr/bin/env node
// hookgate: starts the command line.
import { runCommandLine } from './command-line.ts'
import { readDotEnvOfProcess } from './dot-env.ts'

readDotEnvOfProcess()
const code = await runCommandLine(process.argv.slice(2))
// A failed command may have left handles open, so exit. A successful one may be a running server.
if (code !== 0) process.exit(code)
