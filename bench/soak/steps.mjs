// The upstreams of the soak test: most calls succeed, and one in twenty fails like a vendor's call.

const TEXT = 'The heron stands in the shallows, as grey as the morning, and waits. '.repeat(6)

const answers = [
  { kind: 'reply', reply: { text: TEXT }, everyMs: 2 },
  { kind: 'reply', reply: { text: TEXT, reasoning: { text: 'It asks about herons.' } }, everyMs: 1 },
  { kind: 'reply', reply: { toolCalls: [{ id: 'call_1', name: 'look', args: '{"at":"the reeds"}' }] } },
  { kind: 'reply', reply: { text: TEXT }, delayMs: 30 },
]

const faults = [
  { kind: 'fail', status: 500, message: 'soak' },
  { kind: 'fail', status: 429, message: 'soak', headers: { 'retry-after': '1' } },
  { kind: 'fail', status: 400, message: 'soak' },
  { kind: 'reset' },
  { kind: 'raw', status: 200, body: '{"choices": [' },
  { kind: 'raw', status: 502, body: '<html>Bad Gateway</html>', contentType: 'text/html' },
  { kind: 'broken', reply: { text: TEXT }, after: 5, message: 'soak' },
  { kind: 'reply', reply: { text: TEXT }, cut: { after: 6, how: 'reset' } },
]

/** Idle connections close soon, so that remaining ones are leaks. */
const headers = { connection: 'keep-alive', 'keep-alive': 'timeout=5' }

export function steps(random, faulty, count) {
  const oneOf = (list) => list[Math.floor(random() * list.length)]
  return Array.from({ length: count }, () => {
    const step = oneOf(random() < faulty ? faults : answers)
    return { ...step, headers: { ...headers, ...step.headers } }
  })
}
