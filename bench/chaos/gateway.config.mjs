// The gateway of the kill loop, with one counting upstream.
export default {
  connections: { up: { provider: 'custom', baseUrl: process.env.CHAOS_UPSTREAM, wireFormat: 'chat', apiKey: 'sk-chaos' } },
}
