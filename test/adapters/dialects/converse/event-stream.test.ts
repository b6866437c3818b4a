// Frames of AWS's event stream, made by AWS's own codec, split at every byte.
import { EventStreamCodec } from '@smithy/eventstream-codec'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { crc32 } from '../../../../adapters/dialects/converse/stream/crc32.ts'
import { type EventMessage, EventStreamSplitter } from '../../../../adapters/dialects/converse/stream/event-stream.ts'
import { decodeUtf8, encodeUtf8 } from '../../../../core/text/bytes.ts'

const aws = new EventStreamCodec(decodeUtf8, encodeUtf8)
const frame = (type: string, payload: string): Uint8Array =>
  aws.encode({
    headers: {
      ':event-type': { type: 'string', value: type },
      ':content-type': { type: 'string', value: 'application/json' },
      ':message-type': { type: 'string', value: 'event' },
      counted: { type: 'integer', value: 7 },
      flag: { type: 'boolean', value: true },
      at: { type: 'timestamp', value: new Date(0) },
      raw: { type: 'binary', value: encodeUtf8('xyz') },
    },
    body: encodeUtf8(payload),
  })

const read = (messages: readonly EventMessage[]) =>
  messages.map(({ headers, payload }) => [headers.get(':event-type'), headers.get(':message-type'), decodeUtf8(payload)])

describe('an event stream', () => {
  const bytes = Buffer.concat([frame('messageStart', '{"role":"assistant"}'), frame('empty', ''), frame('last', '{"ü":1}')])
  const wanted = [
    ['messageStart', 'event', '{"role":"assistant"}'],
    ['empty', 'event', ''],
    ['last', 'event', '{"ü":1}'],
  ]

  it('is the same for every split in two', () => {
    for (let at = 0; at <= bytes.length; at++) {
      const splitter = new EventStreamSplitter()
      const found = [...splitter.push(bytes.subarray(0, at)), ...splitter.push(bytes.subarray(at))]
      expect(read(found), `split at ${at}`).toEqual(wanted)
      expect(splitter.pending).toBe(false)
    }
  })

  it('is the same byte by byte', () => {
    const splitter = new EventStreamSplitter()
    expect(read([...bytes].flatMap((byte) => splitter.push(Uint8Array.of(byte))))).toEqual(wanted)
  })

  it('is the same for any payloads and splits', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ maxLength: 200 }), { maxLength: 6 }),
        fc.array(fc.nat(64), { minLength: 1 }),
        (texts, sizes) => {
          const all = Buffer.concat(texts.map((text) => frame('e', text)))
          const splitter = new EventStreamSplitter()
          const found: EventMessage[] = []
          for (let at = 0, turn = 0; at < all.length; turn++) {
            const size = (sizes[turn % sizes.length] as number) + 1
            found.push(...splitter.push(all.subarray(at, at + size)))
            at += size
          }
          expect(found.map(({ payload }) => decodeUtf8(payload))).toEqual(texts.map((text) => decodeUtf8(encodeUtf8(text))))
        },
      ),
    )
  })

  it('is refused when any byte is another one', () => {
    const one = frame('messageStart', '{"role":"assistant"}')
    for (let at = 0; at < one.length; at++) {
      const wrong = one.slice()
      wrong[at] = (wrong[at] as number) ^ 0x01
      const splitter = new EventStreamSplitter()
      // A longer length waits for bytes, unless the checksum of the prelude shows it.
      expect(() => splitter.push(wrong), `byte ${at}`).toThrow(/wrong checksum/)
    }
  })

  it('is refused with a length that no message has', () => {
    const huge = new Uint8Array(12)
    const view = new DataView(huge.buffer)
    view.setUint32(0, 1 << 30)
    view.setUint32(8, crc32(huge.subarray(0, 8)))
    expect(() => new EventStreamSplitter().push(huge)).toThrow('an impossible length')
  })

  it('has the checksum of the standard', () => {
    expect(crc32(encodeUtf8('123456789'))).toBe(0xcbf43926)
  })
})
