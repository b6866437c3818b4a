// The gateway of the benchmark: one chat upstream, the mock; everything else has its default. BENCH_WITHOUT names plugins to leave out.
import { preset } from 'hookgate/preset'

const without = new Set((process.env.BENCH_WITHOUT ?? '').split(',').filter((name) => name !== ''))

export default {
  ...(without.size > 0 && { plugins: preset().filter(({ name }) => !without.has(name)) }),
  connections: {
    openai: { provider: 'custom', baseUrl: `${process.env.BENCH_UPSTREAM}/v1`, wireFormat: 'chat', apiKey: 'sk-bench' },
  },
}
