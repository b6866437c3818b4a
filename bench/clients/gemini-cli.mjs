// Gemini CLI: uses the generate-content dialect, and reads files with its tool read_file.
import { mkdirSync, writeFileSync } from 'node:fs'

export const geminiCli = {
  id: 'gemini-cli',
  name: 'Gemini CLI',
  dialect: 'generate_content',
  packages: ['@google/gemini-cli'],
  bin: 'gemini',
  tool: (name, turn, paths) => (name === 'read_file' ? { file_path: paths[turn] ?? paths[0] } : null),
  start({ url, model, home, bin, prompt }) {
    mkdirSync(`${home}/.gemini`, { recursive: true })
    const settings = {
      security: { auth: { selectedType: 'gemini-api-key' } },
      privacy: { usageStatisticsEnabled: false },
      telemetry: { enabled: false },
      general: { enableAutoUpdate: false, disableUpdateNag: true },
    }
    writeFileSync(`${home}/.gemini/settings.json`, JSON.stringify(settings))
    return {
      argv: [bin, '--yolo', '--skip-trust', '--model', model, '--prompt', prompt],
      env: { GOOGLE_GEMINI_BASE_URL: url, GEMINI_API_KEY: 'none', GEMINI_CLI_TRUST_WORKSPACE: 'true' },
    }
  },
}
