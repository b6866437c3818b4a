// Lists the tested clients. A row is one client with one of its settings; docs/clients.md shows them in this order.
import { claudeCode } from './claude-code.mjs'
import { CODEX } from './codex.mjs'
import { geminiCli } from './gemini-cli.mjs'
import { opencode } from './opencode.mjs'
import { SDKS } from './sdks.mjs'

/**
 * id, name: of the row
 * packages: to install; the first one is the client, and its version is shown
 * tool(name, turn, paths): arguments of the offered tool `name` in this turn, or null when the session does not use it
 * socket: true when the client keeps a WebSocket; a POST fails the cell
 * limit: a failure that docs/clients.md explains; a cell that fails with it does not fail the run
 * start({ url, model, home, work, place, prompt }): { argv, env } of the process, in the folder `work`
 */
export const CLIENTS = [claudeCode, ...CODEX, geminiCli, opencode, ...SDKS]

export const UPSTREAMS = ['chat', 'messages', 'generate_content', 'responses']
