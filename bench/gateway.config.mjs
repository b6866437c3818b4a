// The gateway of the benchmark: one chat upstream, the mock; everything else has its default.
export default {
  connections: {
    openai: { provider: 'custom', baseUrl: `${process.env.BENCH_UPSTREAM}/v1`, wireFormat: 'chat', apiKey: 'sk-bench' },
  },
}
