// Boots with no environment. `echo` answers without any account: try the gateway with it, then add a real connection.
import { defineConfig } from 'hookgate'

export default defineConfig({
  connections: {
    echo: { provider: 'echo' },
    // With `secret` imported beside `defineConfig`:
    // openai: { provider: 'openai', apiKey: secret.env('OPENAI_API_KEY') },
    // anthropic: { provider: 'anthropic', apiKey: secret.env('ANTHROPIC_API_KEY') },
  },
})
