// Codex: uses the responses dialect, and reads files with its shell. It posts each request, or keeps a WebSocket.
import { mkdirSync, writeFileSync } from 'node:fs'

export const CODEX = [
  withTransport('codex', 'Codex', false),
  { ...withTransport('codex-socket', 'Codex over a WebSocket', true), socket: true },
]

function withTransport(id, name, isSocket) {
  return {
    id,
    name,
    dialect: 'responses',
    packages: ['@openai/codex'],
    bin: 'codex',
    tool(name, turn, paths) {
      const command = `cat ${paths[turn] ?? paths[0]}`
      if (/exec_command$/.test(name)) return { cmd: command }
      if (/shell_command$/.test(name)) return { command }
      return /(^|_)shell$/.test(name) ? { command: ['bash', '-c', command] } : null
    },
    start({ url, model, home, bin, prompt }) {
      mkdirSync(`${home}/.codex`, { recursive: true })
      writeFileSync(`${home}/.codex/config.toml`, codexConfig(url, model, isSocket))
      return {
        argv: [bin, 'exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', prompt],
        env: { CODEX_HOME: `${home}/.codex`, HOOKGATE_KEY: 'none' },
      }
    },
  }
}

function codexConfig(url, model, isSocket) {
  return `model = "${model}"
model_provider = "hookgate"
check_for_update_on_startup = false

[model_providers.hookgate]
name = "hookgate"
base_url = "${url}/v1"
env_key = "HOOKGATE_KEY"
wire_api = "responses"
supports_websockets = ${isSocket}

[analytics]
enabled = false
`
}
