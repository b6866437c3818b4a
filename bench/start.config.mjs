// The gateway of bench/start.mjs: one connection, the mock. It imports nothing, as a configuration that only declares values.
export default {
  connections: {
    openai: { provider: 'custom', baseUrl: `${process.env.BENCH_UPSTREAM}/v1`, wireFormat: 'chat', apiKey: 'sk-bench' },
  },
}
