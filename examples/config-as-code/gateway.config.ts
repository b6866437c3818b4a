// The whole configuration of a deployment, under version control. Secrets are references, never values.
//
//   OPENAI_API_KEY=… ANTHROPIC_API_KEY=… npm start -- --config examples/config-as-code/gateway.config.ts
import { defineConfig, pin, preset, secret } from 'hookgate'
import { auditTrail } from './audit-trail.ts'

export default defineConfig({
  profile: 'local',
  plugins: [...preset({ stripUnsupported: { enabled: true } }), auditTrail({ team: 'search' })],
  connections: {
    // Two accounts of one provider: the first available one answers.
    openai: { provider: 'openai', apiKey: secret.env('OPENAI_API_KEY'), allowedModels: ['gpt-*'] },
    'openai-backup': { provider: 'openai', apiKey: secret.env('OPENAI_BACKUP_KEY'), enabled: false },
    anthropic: { provider: 'anthropic', apiKey: secret.env('ANTHROPIC_API_KEY') },
    ollama: { provider: 'ollama', baseUrl: 'http://127.0.0.1:11434/v1' },
    echo: { provider: 'echo' },
  },
  settings: { 'audit_trail.failures_only': pin(false) },
  // Boot options by the camelCase name of their variable. The environment takes precedence.
  options: { streamHeartbeatMs: 10_000, upstreamIdleTimeoutMs: 60_000 },
})
