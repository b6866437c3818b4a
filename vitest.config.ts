import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url))

export default defineConfig({
  resolve: {
    alias: [
      { find: /^hookgate$/, replacement: at('./adapters/node/index.ts') },
      { find: /^hookgate\/core$/, replacement: at('./core/index.ts') },
      { find: /^hookgate\/preset$/, replacement: at('./plugins/preset.ts') },
      { find: /^hookgate\/testing$/, replacement: at('./adapters/testing/index.ts') },
      { find: /^hookgate\/plugins\/(.*)$/, replacement: at('./plugins/$1/index.ts') },
      { find: /^hookgate\/adapters\/(.*)$/, replacement: at('./adapters/$1.ts') },
    ],
  },
  test: {
    include: ['test/**/*.test.ts'],
    setupFiles: ['test/setup.ts'],
    testTimeout: 20_000,
    hookTimeout: 20_000,
    maxWorkers: 2,
  },
})
