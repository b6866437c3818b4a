// The gateway of the kill loop: one upstream that counts.
export default {
  connections: { up: { provider: 'custom', baseUrl: process.env.CHAOS_UPSTREAM, wireFormat: 'chat', apiKey: 'sk-chaos' } },
}
