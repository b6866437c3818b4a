// PDFs in a request: what is kept back covers their pages.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fileOf, PAGE } from './pdf-files.ts'
import { observed, WINDOW, waiting } from './reservation.ts'
import { PRICE, type Site } from './support.ts'

const IN = PRICE.input * 1e9
const OUT = PRICE.output * 1e9

let s: Site
let account: string
beforeAll(async () => {
  ;({ s, account } = await waiting())
})
afterAll(() => s.close())

describe('a PDF in the request', () => {
  const reservedFor = async (data: string): Promise<number> => {
    const document = { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data } }
    const body = { model: 'messages/m', max_tokens: 1, messages: [{ role: 'user', content: [document] }] }
    return (await observed(s, account, { path: '/v1/messages', body }))?.reserved ?? 0
  }

  it('is kept back by its pages, which may be small, up to the context window', async () => {
    const small = await reservedFor(fileOf('<< /Type /Page >>\n'.repeat(40)))
    expect(small).toBeGreaterThanOrEqual(40 * PAGE * IN)
    expect(small).toBeLessThan(41 * PAGE * IN)
    const many = await reservedFor(fileOf('<< /Type /Pages /Count 9999999 >>'))
    expect(many).toBeGreaterThanOrEqual(WINDOW * IN)
    expect(many).toBeLessThan(WINDOW * IN + 100 * OUT)
  })

  it('is kept back by its bytes where they are more', async () => {
    const large = await reservedFor(fileOf(`<< /Type /Page >>${' '.repeat(100_000)}`))
    expect(large).toBeGreaterThanOrEqual(50_000 * IN)
    expect(large).toBeLessThan(51_000 * IN)
  })

  it('counts neither page trees nor names that only begin alike, and is quick on a file of slashes', async () => {
    expect(await reservedFor(fileOf('<< /Type /Pages /Kids [] >> << /Type /PageLabel >>'))).toBeLessThan(PAGE * IN)
    const began = performance.now()
    await reservedFor(fileOf('/Type '.repeat(500_000)))
    expect(performance.now() - began).toBeLessThan(5000)
  })
})
