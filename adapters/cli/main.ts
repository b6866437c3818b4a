#!/usr/bin/env node
// hookgate: the command line.
import { runCommandLine } from './command-line.ts'

const code = await runCommandLine(process.argv.slice(2))
// What failed may have left something open; what succeeded may be a server.
if (code !== 0) process.exit(code)
