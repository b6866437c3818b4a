import { test } from 'vitest'
import { undiciTransport } from '../adapters/transport/undici.ts'
import { rawServer } from '../adapters/testing/network-faults.ts'
import { call } from './adapters/transport/support.ts'
test('x', async () => {
  const t = undiciTransport()
  for (const r of ['SSH-2.0-OpenSSH_9.2\r\n', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nhello\r\n', 'HTTP/1.1 200 OK\r\nx: y']) {
    const s = await rawServer((k) => k.once('data', () => k.end(r)))
    const seen = await call(t, `http://127.0.0.1:${s.port}/`)
    console.log(seen.calls, (seen.error as any)?.cause, (seen.error as any)?.cause?.code, (seen.error as any)?.cause?.constructor?.name)
  }
})
