// Claude Code: uses the messages dialect, and reads files with its tool Read.
export const claudeCode = {
  id: 'claude-code',
  name: 'Claude Code',
  dialect: 'messages',
  packages: ['@anthropic-ai/claude-code'],
  bin: 'claude',
  tool: (name, turn, paths) => (name === 'Read' ? { file_path: paths[turn] ?? paths[0] } : null),
  start: ({ url, model, home, bin, prompt }) => ({
    argv: [bin, '-p', prompt, '--allowedTools', 'Read'],
    env: {
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_AUTH_TOKEN: 'none',
      ANTHROPIC_MODEL: model,
      ANTHROPIC_SMALL_FAST_MODEL: model,
      ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
      CLAUDE_CONFIG_DIR: `${home}/.claude`,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
      DISABLE_TELEMETRY: '1',
    },
  }),
}
