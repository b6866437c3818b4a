import { afterEach, describe, expect, it } from 'vitest'
import { ASK, HEAD, received, serving as servingAtOnce, stop } from './sink-server.ts'

afterEach(stop)

/** Answers when the request has been read to its end, as the gateway does. */
const serving: typeof servingAtOnce = (answer) =>
  servingAtOnce(async (sink, res, req) => {
    await new Promise((resolve) => setImmediate(resolve))
    expect(req.complete).toBe(true)
    await answer(sink, res, req)
  })

describe('the head of an answer', () => {
  /** Names and values without the date; their order is that of the answer. */
  const headOf = (answer: Buffer) =>
    answer
      .toString('latin1')
      .split('\r\n\r\n')[0]
      ?.replace(/^Date: .*\r\n/m, '')

  it.each([
    ['a whole answer', 200, ASK],
    ['an error', 404, ASK],
    ['an unknown status', 299, ASK],
    ['no content', 204, ASK],
    ['HTTP/1.0', 200, ASK.replace('1.1', '1.0')],
    ['HEAD', 200, ASK.replace('GET', 'HEAD')],
    ['a client that closes', 200, ASK.replace('\r\n\r\n', '\r\nconnection: close\r\n\r\n')],
  ])('is what writeHead writes: %s', async (_what, status, ask) => {
    const headers = [...HEAD, 'x-many', 'a', 'x-many', 'b', 'x-empty', '', 'x-latin', '\u00fc', 'x-tab', 'a\tb']
    const answers: (string | undefined)[] = []
    for (const plain of [true, false]) {
      const { port } = await serving((sink, res) => {
        if (plain) {
          res.writeHead(status, status === 204 ? headers : [...headers, 'content-length', '5'])
          // Beside a text Node writes the head in the encoding of the text.
          return void res.end(Buffer.from('hello'))
        }
        sink.head(status, headers)
        sink.end('hello')
      })
      for (let turn = 0; turn < 3; turn++) answers.push(headOf(await received(port, ask, (text) => text.includes('\r\n\r\n'))))
      stop()
    }
    expect(answers[0]).toContain(` ${status} `)
    expect(new Set(answers).size, answers.join('\n')).toBe(1)
  })

  it('is right when each answer has another value', async () => {
    let count = 0
    const { port } = await serving((sink) => {
      sink.head(200, [...HEAD, 'x-changes', `v${count++}`, 'x-own', `o${count % 3}`])
      sink.end('hello')
    })
    for (let turn = 0; turn < 150; turn++) {
      const { headers } = await fetch(`http://127.0.0.1:${port}/`)
      expect([headers.get('x-changes'), headers.get('x-own')]).toEqual([`v${turn}`, `o${(turn + 1) % 3}`])
    }
  })

  it.each([
    ['Connection', 'close'],
    ['CONTENT-LENGTH', '5'],
    ['Transfer-Encoding', 'chunked'],
    ['DATE', 'Thu, 01 Jan 1970 00:00:00 GMT'],
    ['Keep-Alive', 'timeout=9'],
  ])('frames the body and keeps the connection as writeHead does, for %s in this letter case', async (name, value) => {
    const lines = (answer: Buffer) => (headOf(answer) ?? '').toLowerCase().split('\r\n').sort()
    const answers: string[][] = []
    for (const plain of [true, false]) {
      const { port } = await serving((sink, res) => {
        if (plain) {
          res.writeHead(200, [...HEAD, name, value])
          return void res.end(Buffer.from('hello'))
        }
        sink.head(200, [...HEAD, name, value])
        sink.write('hello')
        sink.end()
      })
      for (let turn = 0; turn < 2; turn++) answers.push(lines(await received(port, ASK, (text) => text.includes('hello'))))
      stop()
    }
    expect(answers.slice(1)).toEqual(Array(3).fill(answers[0]))
  })

  it('keeps the order of values of one name, short and long', async () => {
    const long = 'l'.repeat(2000)
    for (const values of [
      ['a', long, 'b'],
      [long, 'a'],
      ['a', 'b'],
    ]) {
      const { port } = await serving((sink) => {
        sink.head(200, [...HEAD, ...values.flatMap((value) => [`x-${values.length}`, value])])
        sink.end('hello')
      })
      for (let turn = 0; turn < 2; turn++) {
        const { headers } = await fetch(`http://127.0.0.1:${port}/`)
        expect(headers.get(`x-${values.length}`)).toBe(values.join(', '))
      }
      stop()
    }
  })

  it.each([
    ['a line break in a value', ['x-a', 'b\r\nx-injected: 1']],
    ['a line break in a name', ['x-a\r\nx-injected', 'b']],
    ['a character beyond Latin-1', ['x-a', '\u2014']],
    ['an empty name', ['', 'b']],
  ])('is refused as writeHead refuses it, each time: %s', async (_what, bad) => {
    const errors: unknown[] = []
    const { port } = await serving((sink, res) => {
      try {
        sink.head(200, [...HEAD, ...bad])
        sink.end('hello')
      } catch (error) {
        errors.push(error)
        res.writeHead(500).end('refused')
      }
    })
    for (let turn = 0; turn < 2; turn++) {
      const answer = await received(port, ASK, (text) => text.includes('refused'))
      expect(answer.toString()).toMatch(/^HTTP\/1.1 500 /)
      expect(answer.toString()).not.toContain('injected')
    }
    expect(errors).toEqual([expect.any(TypeError), expect.any(TypeError)])
  })

  it('has the headers that a middleware set before', async () => {
    const { port } = await serving((sink, res) => {
      res.setHeader('x-middleware', 'yes')
      sink.head(200, HEAD)
      sink.end('hello')
    })
    const { headers } = await fetch(`http://127.0.0.1:${port}/`)
    expect([headers.get('x-middleware'), headers.get('content-type')]).toEqual(['yes', HEAD[1]])
  })
})
