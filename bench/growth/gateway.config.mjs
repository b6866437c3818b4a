// The gateway for bench/growth.mjs: the mock as one upstream, and plugins with hooks that are switched off.
import { definePlugin, preset } from 'hookgate'

const off = { when: () => false }
const idle = Array.from({ length: Number(process.env.BENCH_IDLE_PLUGINS ?? 0) }, (_, at) =>
  definePlugin({
    name: `idle-${at}`,
    setup(gateway) {
      for (const name of ['access', 'request', 'prepare', 'response', 'settled']) gateway.hook(name, () => {}, off)
    },
  })(),
)

export default {
  connections: {
    openai: { provider: 'custom', baseUrl: `${process.env.BENCH_UPSTREAM}/v1`, wireFormat: 'chat', apiKey: 'sk-bench' },
  },
  plugins: [...preset(), ...idle],
}
