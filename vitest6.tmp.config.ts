import { defineConfig } from 'vitest/config'
export default defineConfig({ root: '/work/main', resolve: { alias: [{ find: /^ioredis$/, replacement: '/tmp/hgv/io6/node_modules/ioredis/built/index.js' }] }, test: { include: ['test/adapters/stores/redis*.test.ts'], testTimeout: 20000, maxWorkers: 2 } })
