// Tests of streams: the events that a plugin emits are a valid stream, the pieces of a text do not matter, and a stream says what the
// whole answer says.
import assert from 'node:assert/strict'
import { definePlugin } from '../../../core/plugins/define.ts'
import type { Plugin } from '../../../core/types/plugin/plugin.ts'
import type { StreamEvent } from '../../../core/types/request/stream.ts'
import type { ContractCase } from '../contracts/contract.ts'
import { CONTRACT_REPLIES } from '../contracts/dialect-contract.ts'
import type { Reply } from '../replies/reply.ts'
import { DIALECTS, requestOf, type TestRequest } from '../requests.ts'
import { reply } from '../script.ts'
import { checkStream } from '../stream-rules.ts'
import type { PluginConformanceOptions } from './options.ts'
import { judged, type Run, running } from './run.ts'

const SENSITIVE = `Dear Anna, write to anna.berg@example.com or +47 22 33 44 55 before 2026-11-25 12:30. Card 4111 1111 1111 1111, account
DE89 3704 0044 0532 0130 00, social security 078-05-1120, host 10.0.0.1, see https://example.com/path?token=abc#part. PASSWORD: hunter2,
key sk-proj-abcdefghijklmnopqrstuvwxyz0123456789. <think>A secret thought.</think> **Bold**, \`code\`, {"json": [1, 2.50]} 100 % wörld 👋🏽.`

/** Answers with texts that plugins like to change, beside those of every contract. */
export const KIT_REPLIES: Readonly<Record<string, Reply>> = {
  ...CONTRACT_REPLIES,
  'a text with addresses, numbers and keys': { text: SENSITIVE },
  'arguments with an address': {
    toolCalls: [
      {
        id: 'call_abcdefghijklmnopqrstuvwx',
        name: 'send_mail',
        args: JSON.stringify({ to: 'anna.berg@example.com', text: SENSITIVE.slice(0, 120), copies: 2 }),
      },
    ],
  },
}

export function streamCases(make: () => Plugin, run: Run, options: PluginConformanceOptions): ContractCase[] {
  const { recordings = KIT_REPLIES, streamDiffers } = options
  const all = Object.entries(recordings)
  return [
    {
      name: 'a stream stays valid: parts open and close, and `part_stop` says what the deltas said',
      run: () => valid(make, options, all),
    },
    ...DIALECTS.map(
      (caller): ContractCase => ({
        name: `${caller}: a text that arrives character by character is the same text`,
        run: () =>
          run((t) =>
            eachUpstream(all, async (upstream, name, recording) => {
              const meanings = []
              for (const chunk of [1, 5, 10_000]) {
                t.upstream.script(reply({ ...recording, chunk }))
                meanings.push(
                  comparable(
                    await judged(t, requestOf(caller, upstream, true), `${name}, from ${upstream}, in pieces of ${chunk}`),
                  ),
                )
              }
              for (const meaning of meanings)
                if (meaning !== null && meanings[2] !== null)
                  assert.deepEqual(
                    meaning,
                    meanings[2],
                    `${name}, from ${upstream}: in pieces it is another answer. Hold back what may continue, see holdBack()`,
                  )
            }),
          ),
      }),
    ),
    ...(streamDiffers === undefined
      ? DIALECTS.map(
          (caller): ContractCase => ({
            name: `${caller}: a stream says what the whole answer says`,
            run: () =>
              run((t) =>
                eachUpstream(all, async (upstream, name, recording) => {
                  t.upstream.script(reply(recording))
                  const whole = comparable(await judged(t, requestOf(caller, upstream, false), `${name}, from ${upstream}`))
                  const streamed = comparable(
                    await judged(t, withUsage(requestOf(caller, upstream, true)), `${name}, from ${upstream}`),
                  )
                  if (whole !== null && streamed !== null)
                    assert.deepEqual(
                      streamed,
                      whole,
                      `${name}, from ${upstream}: the stream is another answer than the whole one. Change both in the same way, in \`stream\` and in \`response\``,
                    )
                }),
              ),
          }),
        )
      : []),
  ]
}

/** Streams of chat report the usage only when they are asked to. */
function withUsage(request: TestRequest): TestRequest {
  return request.dialect === 'chat' ? { ...request, body: { ...request.body, stream_options: { include_usage: true } } } : request
}

async function eachUpstream(
  recordings: readonly [string, Reply][],
  use: (upstream: (typeof DIALECTS)[number], name: string, recording: Reply) => Promise<void>,
): Promise<void> {
  for (const upstream of DIALECTS) for (const [name, recording] of recordings) await use(upstream, name, recording)
}

/** null: refused by a limit, which says nothing about the content. */
function comparable({ status, meaning }: { status: number; meaning: unknown }): { refused: boolean; meaning: unknown } | null {
  if (status === 402 || status === 429) return null
  return { refused: status >= 400, meaning: status >= 400 ? null : meaning }
}

async function valid(
  make: () => Plugin,
  options: PluginConformanceOptions,
  recordings: readonly [string, Reply][],
): Promise<void> {
  const streams: StreamEvent[][] = []
  const watcher = definePlugin({
    name: 'conformance-watcher',
    setup(gateway) {
      const watch = () => {
        const events: StreamEvent[] = []
        streams.push(events)
        return { passive: true as const, event: (event: StreamEvent) => void events.push(event) }
      }
      gateway.hook('stream', watch, { order: 'post', operation: 'chat' })
    },
  })
  await running(make, { ...options, after: () => [watcher()] })((t) =>
    eachUpstream(recordings, async (upstream, name, recording) => {
      streams.length = 0
      t.upstream.script(reply(recording))
      const { status } = await judged(t, requestOf('chat', upstream, true), `${name}, from ${upstream}`)
      if (status < 400) for (const events of streams) checkStream(events, `${name}, from ${upstream}`)
    }),
  )
}
