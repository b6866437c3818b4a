// The data that a socket reads after a request, without leading `100 Continue` responses, for every split of the bytes.
import { once } from 'node:events'
import { Readable } from 'node:stream'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { skipUnaskedContinue } from '../../../adapters/transport/unasked-continue.ts'

/** Reads as undici does: everything available, whenever data arrives. */
async function readThrough(pieces: readonly string[], due = true): Promise<string> {
  const socket = new Readable({ read() {} })
  const skipper = skipUnaskedContinue(socket)
  if (due) skipper.answerDue()
  let seen = ''
  socket.on('readable', () => {
    for (let chunk = socket.read(); chunk !== null; chunk = socket.read()) seen += chunk
  })
  const ended = once(socket, 'end')
  for (const piece of pieces) {
    socket.push(piece)
    await new Promise((resolve) => setImmediate(resolve))
  }
  socket.push(null)
  await ended
  return seen
}

const CONTINUE = ['HTTP/1.1 100 Continue\r\n\r\n', 'HTTP/1.0 100 \r\nx: y\r\ndate: now\r\n\r\n']
const ANSWERS = [
  'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi',
  'HTTP/1.1 103 Early\r\n\r\nHTTP/1.1 200 OK\r\n\r\n',
  'SSH-2.0',
  'H',
  '',
]

it('is the answer alone', async () => {
  const cuts = fc.array(fc.nat(200), { maxLength: 12 })
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom(...CONTINUE), { maxLength: 3 }),
      fc.constantFrom(...ANSWERS),
      cuts,
      async (heads, answer, at) => {
        const text = heads.join('') + answer
        const ends = [...new Set(at.filter((cut) => cut > 0 && cut < text.length))].sort((a, b) => a - b)
        const pieces = [0, ...ends].map((from, index) => text.slice(from, ends[index]))
        // A single first letter is not decidable.
        expect(await readThrough(pieces.filter((piece) => piece !== ''))).toBe(answer === 'H' ? '' : answer)
      },
    ),
    { seed: 11, numRuns: 300 },
  )
})

it('is untouched inside an answer, and before a request', async () => {
  const [head] = CONTINUE as [string]
  expect(await readThrough([`HTTP/1.1 200 OK\r\n\r\n`, head])).toBe(`HTTP/1.1 200 OK\r\n\r\n${head}`)
  expect(await readThrough([head], false)).toBe(head)
})

it('is left to the parser where a 100 does not come to its end', async () => {
  const endless = `HTTP/1.1 100 Continue\r\nx: ${'y'.repeat(20_000)}`
  expect(await readThrough([endless.slice(0, 9000), endless.slice(9000)])).toBe(endless)
})
