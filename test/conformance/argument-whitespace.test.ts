// Models print tool arguments with any whitespace that JSON allows. Between every caller and upstream the streamed frames
// stay one line of JSON each, and the arguments keep their value.
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Reply } from '../../adapters/testing/replies/reply.ts'
import { frames } from '../../adapters/testing/script.ts'
import { RENDERERS } from '../../adapters/testing/scripted-upstream.ts'
import type { Dialect } from '../../core/types/request/canonical.ts'
import { ask, DIALECTS, user } from './neutral.ts'
import { MODELS, startWorld, type World } from './world.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.close())

const ASK = ask({
  turns: [user('Write the file.')],
  tools: [{ name: 'write_file', description: 'Writes a file.', schema: { type: 'object' } }],
})
const TOKENS = '{ "path" : "a\\r\\nb\\t" , "lines" : [ 1 , { } ] , "n" : 1e2 }'.split(' ')
const space = fc.string({ unit: fc.constantFrom(' ', '\t', '\r', '\n', '\r\n'), maxLength: 3 })
const spaces = fc.array(space, { minLength: TOKENS.length + 1, maxLength: TOKENS.length + 1 })
const every = [' ', '\t', '\r', '\n', '\r\n'].map((one) => [Array.from({ length: TOKENS.length + 1 }, () => one)] as [string[]])

function printed(between: readonly string[]): string {
  return TOKENS.map((token, at) => between[at] + token).join('') + between[TOKENS.length]
}

/** In a generate-content upstream the arguments are inside its frame, so their line breaks split the data into lines. */
function upstreamFrames(upstream: Dialect, args: string): string[] {
  const reply: Reply = { toolCalls: [{ id: 'call_1', name: 'write_file', args }], chunk: 1 }
  const list = RENDERERS[upstream].frames(reply)
  if (upstream !== 'generate_content') return list
  const compact = `"args":${JSON.stringify(JSON.parse(args))}`
  const lines = args.replace(/\r\n|\r|\n/g, '\r\ndata: ')
  return list.map((frame) => frame.replace(compact, () => `"args":${lines}`))
}

describe.each(
  DIALECTS.flatMap((caller) => DIALECTS.map((upstream) => ({ caller, upstream }))),
)('argument whitespace: $caller → $upstream', ({ caller, upstream }) => {
  it('every data line of the stream is JSON, and the arguments arrive equal', async () => {
    await fc.assert(
      fc.asyncProperty(spaces, async (between) => {
        const args = printed(between)
        world.upstream.script(frames(upstreamFrames(upstream, args)))
        const { raw, answer } = await world.callers[caller].send(MODELS[upstream], ASK, true)
        expect(answer?.calls.map((call) => call.args)).toEqual([JSON.parse(args)])
        if (caller === upstream && caller !== 'generate_content') return
        const lines = raw.split(/\r\n|\r|\n/).filter((line) => line !== '')
        for (const line of lines) {
          expect(line).toMatch(/^(data|event): /)
          if (line.startsWith('data: ') && line !== 'data: [DONE]') JSON.parse(line.slice(6))
        }
      }),
      { numRuns: 12, examples: every },
    )
  })
})
