// Runs one gateway with the plugin, and checks each answer: complete, or a refusal with a message, and no failure of the plugin.
import assert from 'node:assert/strict'
import { parsedBody } from '../../../core/json/wire-body.ts'
import { collector } from '../../../core/stream/collect.ts'
import { createSseSplitter } from '../../../core/stream/sse.ts'
import type { Plugin } from '../../../core/types/plugin/plugin.ts'
import type { Logger } from '../../../core/types/ports/ports.ts'
import type { CanonicalResponse } from '../../../core/types/request/answer.ts'
import type { Dialect } from '../../../core/types/request/canonical.ts'
import { dialects } from '../../node/ports.ts'
import { answerMeaning, contractContext } from '../contracts/dialect-contract.ts'
import type { TestRequest } from '../requests.ts'
import { createTestGateway, type TestGateway } from '../test-gateway.ts'
import type { PluginConformanceOptions } from './options.ts'

/** Starts a gateway, uses it, closes it. Rejects when the plugin failed in it, also when no answer showed the failure. */
export type Run = (use: (t: TestGateway) => Promise<void>) => Promise<void>

export interface RunOptions extends PluginConformanceOptions {
  /** Plugins of the kit, listed behind the tested one. */
  after?: () => Plugin[]
}

export function running(make: () => Plugin, { beside = () => [], after = () => [], env = {} }: RunOptions): Run {
  return async (use) => {
    const plugin = make()
    const failures: string[] = []
    const noted = (message: string, fields: object = {}): void => {
      if ('plugin' in fields && fields.plugin === plugin.name) failures.push(`${message} ${JSON.stringify(fields)}`)
    }
    const log: Logger = { debug() {}, info() {}, warn() {}, error: noted }
    const t = await createTestGateway({ plugins: [...beside(), plugin, ...after()], env, ports: { log } })
    try {
      await use(t)
    } finally {
      await t.close()
    }
    assert.deepEqual(failures, [], `the plugin \`${plugin.name}\` failed`)
  }
}

export interface Judged {
  readonly status: number
  /** Content of the answer without ids; null when it was refused or is not a model's. */
  readonly meaning: unknown
}

/** @throws AssertionError when it is neither a complete answer nor a refusal with a message. */
export async function judged(t: TestGateway, request: TestRequest, where = request.path): Promise<Judged> {
  const settled = t.settled.length
  const { status, text } = await answered(t, request)
  assert.ok(status < 500, `${where}: ${status} ${text.slice(0, 300)}`)
  if (request.dialect === null) return { status, meaning: null }
  await t.untilSettled(settled + 1)
  if (status >= 400) {
    assert.match(text, /"message":\s*"[^"]/, `${where}: a refusal says why`)
    return { status, meaning: text.replaceAll(/req_[\w-]+/g, '') }
  }
  try {
    return { status, meaning: answerMeaning(readAnswer(request.dialect, text, request.stream)) }
  } catch (error) {
    throw new assert.AssertionError({ message: `${where}: the answer is not complete: ${(error as Error).message}\n${text}` })
  }
}

/** Sends the request and reads the answer to its end. */
export async function answered(t: TestGateway, { method, path, body }: TestRequest): Promise<{ status: number; text: string }> {
  const response = await (method === 'GET' ? t.fetch(path) : t.post(path, body))
  return { status: response.status, text: await response.text() }
}

/** @throws when the answer contains an error or is truncated. */
function readAnswer(dialect: Dialect, text: string, stream: boolean): CanonicalResponse {
  const driver = dialects.find(({ id }) => id === dialect)
  assert.ok(driver)
  const bytes = new TextEncoder().encode(text)
  if (!stream) return driver.decodeResponse(parsedBody(bytes), contractContext(driver))
  const whole = collector()
  const decoder = driver.decodeStream(contractContext(driver))
  const splitter = createSseSplitter()
  const take = (frame: Parameters<typeof decoder.frame>[0]): void => decoder.frame(frame, (event) => whole.event(event))
  splitter.push(bytes, take)
  splitter.end(take)
  decoder.end((event) => whole.event(event))
  return whole.response()
}
