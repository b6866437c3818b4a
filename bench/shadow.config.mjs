// The gateway for bench/shadow.mjs: a virtual model with an expensive and a cheap target on one upstream.
export default {
  connections: {
    up: { provider: 'custom', baseUrl: `${process.env.BENCH_UPSTREAM}/v1`, wireFormat: 'chat', apiKey: 'sk-bench' },
  },
  virtualModels: { work: { strategy: 'failover', targets: ['up/mock', 'up/mock-cheap'] } },
}
