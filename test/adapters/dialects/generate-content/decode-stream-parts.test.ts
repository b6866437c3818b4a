import { describe, expect, it } from 'vitest'
import { codec, data, decodeEvents, partsOf } from './support.ts'

const part = (value: object, finishReason?: string) => ({
  candidates: [{ content: { role: 'model', parts: [value] }, index: 0, ...(finishReason ? { finishReason } : {}) }],
})

describe('generate-content stream parts', () => {
  it('a call is one complete part, encoded once, with its own or a generated id', () => {
    const events = decodeEvents(
      data(
        part({ functionCall: { name: 'f', args: { a: 'x' }, id: 'srv1' }, thoughtSignature: 'S' }),
        part({ functionCall: { name: 'g', args: { n: 1 } } }, 'STOP'),
      ),
    )
    expect(partsOf(events)).toEqual([
      {
        t: 'tool_call',
        id: 'srv1',
        idMinted: false,
        name: 'f',
        args: '{"a":"x"}',
        kind: 'function',
        signature: { dialect: 'generate_content', modelFamily: 'gemini', value: 'S' },
      },
      { t: 'tool_call', id: 'call_id2', idMinted: true, name: 'g', args: '{"n":1}', kind: 'function' },
    ])
    expect(events.at(-2)).toMatchObject({ e: 'finish', finish: 'tool_calls' })
    const minted = decodeEvents(data(part({ functionCall: { name: 'g' } }, 'STOP')), codec({ caller: 'messages' }))
    expect(partsOf(minted)[0]).toMatchObject({ id: 'toolu_id2', args: '{}' })
  })

  it('puts streamed Vertex arguments together', () => {
    const call = (functionCall: object, finish?: string) => part({ functionCall }, finish)
    const events = decodeEvents(
      data(
        call({ name: 'f', willContinue: true, id: 'v1' }),
        call({ partialArgs: [{ jsonPath: '$.city', stringValue: 'Ber', willContinue: true }], willContinue: true }),
        call({
          partialArgs: [
            { jsonPath: '$.city', stringValue: 'lin' },
            { jsonPath: '$.days[1].n', numberValue: 2 },
          ],
          willContinue: true,
        }),
        call({
          partialArgs: [
            { jsonPath: "$['__proto__'].x", boolValue: true },
            { jsonPath: '$.none', nullValue: 'NULL_VALUE' },
          ],
          willContinue: true,
        }),
        call({}),
        call({ name: 'g', partialArgs: [{ jsonPath: '$.a', boolValue: false }] }, 'STOP'),
      ),
    )
    const parts = partsOf(events)
    expect(parts).toMatchObject([
      { name: 'f', id: 'v1', args: '{"city":"Berlin","days":[null,{"n":2}],"__proto__":{"x":true},"none":null}' },
      { name: 'g', args: '{"a":false}' },
    ])
    // Cut in the middle: the decoder invents no arguments.
    expect(partsOf(decodeEvents(data(call({ name: 'f', willContinue: true }), part({ text: '' }, 'MAX_TOKENS'))))).toEqual([])
  })

  it('goes on after a STOP that is not the last one, and reads candidates apart', () => {
    const events = decodeEvents(
      data(part({ text: 'a' }, 'STOP'), part({ text: 'b' }, 'STOP'), {
        candidates: [
          { index: 0, finishReason: 'MAX_TOKENS' },
          { index: 1, content: { parts: [{ text: 'other' }] }, finishReason: 'STOP' },
        ],
      }),
    )
    expect(partsOf(events)).toEqual([{ t: 'text', text: 'ab' }])
    expect(partsOf(events, 1)).toEqual([{ t: 'text', text: 'other' }])
    expect(events.filter((event) => event.e === 'finish')).toMatchObject([
      { choice: 0, finish: 'length' },
      { choice: 1, finish: 'stop' },
    ])
  })

  it('reads images, code execution, grounding and log probabilities', () => {
    const events = decodeEvents(
      data(
        {
          candidates: [
            {
              content: { parts: [{ text: 'Käse ' }] },
              logprobsResult: {
                chosenCandidates: [{ token: 'Käse ', logProbability: -0.5 }],
                topCandidates: [{ candidates: [{ token: 'x', logProbability: -1 }] }],
              },
            },
          ],
        },
        {
          candidates: [
            {
              content: { parts: [{ text: 'ok' }] },
              finishReason: 'STOP',
              groundingMetadata: {
                groundingChunks: [{ web: { uri: 'https://e.com', title: 'E' } }],
                groundingSupports: [{ segment: { startIndex: 6, endIndex: 8, text: 'ok' }, groundingChunkIndices: [0] }],
              },
            },
          ],
        },
      ),
    )
    expect(partsOf(events)[0]).toMatchObject({
      t: 'text',
      text: 'Käse ok',
      annotations: [{ kind: 'url', url: 'https://e.com', title: 'E', start: 5, end: 7, citedText: 'ok' }],
    })
    expect(events.find((event) => event.e === 'delta' && 'logprobs' in event.d)).toMatchObject({
      part: 0,
      d: { logprobs: { content: [{ token: 'Käse ', logprob: -0.5, top_logprobs: [{ token: 'x', logprob: -1 }] }] } },
    })
    const media = decodeEvents(
      data(
        part({ inlineData: { mimeType: 'image/png', data: 'AA' }, thoughtSignature: 'S' }),
        part({ executableCode: { language: 'PYTHON', code: '1' } }, 'STOP'),
      ),
    )
    expect(partsOf(media)).toEqual([
      {
        t: 'image',
        src: { kind: 'base64', data: 'AA', mime: 'image/png' },
        ext: { generate_content: { thoughtSignature: 'S' } },
      },
      {
        t: 'server_tool',
        dialect: 'generate_content',
        kind: 'executableCode',
        raw: { executableCode: { language: 'PYTHON', code: '1' } },
      },
    ])
  })
})
