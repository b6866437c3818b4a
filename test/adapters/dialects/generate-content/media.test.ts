import { describe, expect, it } from 'vitest'
import { inlineMedia, remoteMedia } from '../../../../adapters/dialects/generate-content/request/remote-media.ts'
import type { JsonObject, Part } from '../../../../core/types/request/canonical.ts'
import { assistant, codec, encode, freeze, request, toolCall, toolResult, user } from './support.ts'

const cat = 'https://example.com/cat.png'
const image = (url: string): Part => ({ t: 'image', src: { kind: 'url', url } })
const sent = (part: Part, on = codec()): unknown =>
  (encode(request({ messages: [user(part)] }), on).body.contents as { parts: JsonObject[] }[])[0]?.parts

describe('media towards Gemini', () => {
  it('sends inline data, Google’s own addresses and YouTube as they are', () => {
    expect(sent({ t: 'image', src: { kind: 'base64', data: 'AA', mime: 'image/png' }, detail: 'high' })).toEqual([
      { inlineData: { mimeType: 'image/png', data: 'AA' } },
    ])
    expect(sent(image('data:image/webp;base64,BB'))).toEqual([{ inlineData: { mimeType: 'image/webp', data: 'BB' } }])
    expect(sent({ t: 'document', src: { kind: 'uri', uri: 'gs://b/a.pdf' } })).toEqual([
      { fileData: { mimeType: 'application/pdf', fileUri: 'gs://b/a.pdf' } },
    ])
    expect(sent(image('https://www.youtube.com/watch?v=1'))).toEqual([
      { fileData: { fileUri: 'https://www.youtube.com/watch?v=1' } },
    ])
    expect(sent({ t: 'audio', format: 'mp3', src: { kind: 'base64', data: 'CC', mime: 'audio/mp3' } })).toEqual([
      { inlineData: { mimeType: 'audio/mp3', data: 'CC' } },
    ])
    expect(sent({ t: 'document', title: 'T', src: { text: 'body' } })).toEqual([{ text: 'T' }, { text: 'body' }])
  })

  it('a remote image is refused unless it was inlined before', () => {
    const wanted = freeze(request({ messages: [user('see', image(cat))] }))
    expect(() => encode(request({ messages: [user(image(cat))] }))).toThrow(
      expect.objectContaining({ param: 'messages', code: 'unsupported_for_target' }),
    )
    expect(remoteMedia(wanted)).toEqual([cat])
    const inlined = inlineMedia(wanted, new Map([[cat, { mime: 'image/png', data: 'AA' }]]))
    expect((encode(inlined).body.contents as { parts: JsonObject[] }[])[0]?.parts[1]).toEqual({
      inlineData: { mimeType: 'image/png', data: 'AA' },
    })
    expect(sent(image(cat), codec({ quirks: { imageUrl: 'ok' } }))).toEqual([
      { fileData: { mimeType: 'image/png', fileUri: cat } },
    ])
  })

  it('lists nested addresses once, leaves out what passes, and shares what did not change', () => {
    const pdf = 'http://example.com/a'
    const first = user('plain')
    const wanted = freeze(
      request({
        messages: [
          first,
          user(image(cat), image('gs://x/y.png'), image('https://youtu.be/1')),
          assistant(toolCall('1', 'f')),
          toolResult('1', '', {
            parts: [
              image(cat),
              {
                t: 'document',
                src: {
                  parts: [{ t: 'document', mime: 'application/pdf', src: { kind: 'url', url: pdf, mime: 'application/pdf' } }],
                },
              },
            ],
          }),
        ],
      }),
    )
    expect(remoteMedia(wanted)).toEqual([cat, pdf])
    const inlined = inlineMedia(wanted, new Map([[pdf, { mime: 'application/octet-stream', data: 'PP' }]]))
    expect(inlined.messages[0]).toBe(first)
    expect(remoteMedia(inlined)).toEqual([cat])
    expect(JSON.stringify(inlined)).toContain('{"kind":"base64","data":"PP","mime":"application/pdf"}')
  })

  it('refuses files stored at another provider', () => {
    expect(() => sent({ t: 'document', src: { kind: 'file', id: 'file-abc' } })).toThrow(
      expect.objectContaining({ param: 'messages' }),
    )
    expect(sent({ t: 'document', src: { kind: 'file', id: 'files/abc' } })).toEqual([
      { fileData: { fileUri: 'https://generativelanguage.googleapis.com/v1beta/files/abc' } },
    ])
  })
})
