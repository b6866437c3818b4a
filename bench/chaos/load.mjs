// Keeps a number of requests running, some streamed, each with its own marker. It records which answers a client got completely.
import { PRICE } from './upstream.mjs'

const OUTPUT = [40, 400]

/** Runs until `over()`; `seen`: marker → { key, status, whole, refused }. */
export async function load({ url, keys, random, width, over, seen, round }) {
  let next = 0
  const worker = async (stream) => {
    while (!over()) {
      const marker = `${round}-${next++}`
      const key = keys[Math.floor(random() * keys.length)]
      const entry = { key: key.id, status: 0, whole: false }
      seen.set(marker, entry)
      await one(marker, key, stream, entry).catch(() => {})
    }
  }
  const one = async (marker, key, stream, entry) => {
    const max_tokens = OUTPUT[0] + Math.floor(random() * (OUTPUT[1] - OUTPUT[0]))
    const content = `${'word '.repeat(Math.floor(random() * 60))}#${marker}#`
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key.key}`, 'x-gateway-user-id': marker },
      body: JSON.stringify({ model: 'up/m', stream, max_tokens, messages: [{ role: 'user', content }] }),
    })
    entry.status = response.status
    const text = await response.text()
    entry.whole = response.ok && (stream ? text.endsWith('data: [DONE]\n\n') : text.endsWith('}'))
    // Without this pause nearly all requests would be refused ones.
    if (response.status === 402) await new Promise((resolve) => setTimeout(resolve, 20 + random() * 100))
  }
  await Promise.all(Array.from({ length: width }, (_, i) => worker(i % 2 === 0)))
}

/** Returns the approximate cost of this many requests, USD. */
export function worth(requests) {
  return (requests * (100 * PRICE.input + ((OUTPUT[0] + OUTPUT[1]) / 2) * PRICE.output)) / 1e9
}
