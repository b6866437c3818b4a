import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

/** `npm test` runs what takes seconds; `npm run test:slow` (`--mode slow`) runs the files named `*.slow.test.ts`. */
const slow = 'test/**/*.slow.test.ts'

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url))

/** As scripts/bundle.mjs does: hookgate's own modules have schemas that are built on first use; plugins of others and the tests have zod. */
const deferredZod = {
  name: 'deferred-zod',
  enforce: 'pre' as const,
  resolveId: (id: string, importer?: string) =>
    id === 'zod' && OWN.some((folder) => importer?.startsWith(folder)) && importer !== DEFERRED ? DEFERRED : null,
}
const DEFERRED = at('./core/schema/deferred-zod.ts')
const OWN = ['./core/', './plugins/', './adapters/'].map(at)

export default defineConfig(({ mode }) => ({
  plugins: [deferredZod],
  resolve: {
    alias: [
      { find: /^hookgate$/, replacement: at('./adapters/node/index.ts') },
      { find: /^hookgate\/core$/, replacement: at('./core/index.ts') },
      { find: /^hookgate\/preset$/, replacement: at('./plugins/preset.ts') },
      { find: /^hookgate\/edge$/, replacement: at('./adapters/edge/index.ts') },
      { find: /^hookgate\/testing$/, replacement: at('./adapters/testing/index.ts') },
      { find: /^hookgate\/plugins\/(.*)$/, replacement: at('./plugins/$1/index.ts') },
      { find: /^hookgate\/adapters\/(.*)$/, replacement: at('./adapters/$1.ts') },
    ],
  },
  test: {
    include: mode === 'slow' ? [slow] : ['test/**/*.test.ts'],
    exclude: mode === 'slow' ? [] : [slow],
    setupFiles: ['test/setup.ts'],
    // A machine that is shared stalls for seconds: these are for what hangs, what is too slow a test says itself.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 15_000 } },
    maxWorkers: 2,
    // A file that loads the whole gateway anew pays seconds for it: the gateway keeps no state in modules, so files share them.
    isolate: false,
    // Each worker would compile the gateway from TypeScript. The slow files of a run find what the others have compiled.
    experimental: { fsModuleCache: true },
  },
}))
