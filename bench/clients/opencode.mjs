// opencode: uses the chat dialect through its OpenAI-compatible provider, and reads files with its tool read.
export const opencode = {
  id: 'opencode',
  name: 'opencode',
  dialect: 'chat',
  packages: ['opencode-ai'],
  bin: 'opencode',
  tool: (name, turn, paths) => (name === 'read' ? { filePath: paths[turn] ?? paths[0] } : null),
  start({ url, model, bin, prompt }) {
    const config = {
      autoupdate: false,
      share: 'disabled',
      enabled_providers: ['hookgate'],
      provider: {
        hookgate: {
          npm: '@ai-sdk/openai-compatible',
          name: 'hookgate',
          options: { baseURL: `${url}/v1`, apiKey: 'none' },
          models: { [model]: { name: model } },
        },
      },
    }
    return {
      argv: [bin, 'run', '--model', `hookgate/${model}`, prompt],
      env: {
        OPENCODE_CONFIG_CONTENT: JSON.stringify(config),
        OPENCODE_DISABLE_MODELS_FETCH: '1',
        OPENCODE_DISABLE_AUTOUPDATE: '1',
      },
    }
  },
}
