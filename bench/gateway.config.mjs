// The gateway as the bench runs it: one chat upstream, the mock; everything else as shipped.
export default {
  connections: {
    openai: { provider: 'custom', baseUrl: `${process.env.BENCH_UPSTREAM}/v1`, wireFormat: 'chat', apiKey: 'sk-bench' },
  },
}
