// Runs one gateway for the contract of an operation's codec: connections of the provider to a scripted vendor, and no circuit breaker, so
// that each request finds them as new.
import assert from 'node:assert/strict'
import { definePlugin } from '../../../core/plugins/define.ts'
import type { OperationDriver } from '../../../core/types/operations/operation.ts'
import type { MediaOperation, OperationAnswer } from '../../../core/types/operations/operations.ts'
import type { Outcome, RequestContext } from '../../../core/types/request/context.ts'
import { preset } from '../../../plugins/preset.ts'
import { operations } from '../../operations/index.ts'
import { choose, type RecordedRequest, type Step } from '../script.ts'
import { type ScriptedUpstream, scriptedUpstream } from '../scripted-upstream.ts'
import { createTestGateway } from '../test-gateway.ts'
import type { OperationContract } from './options.ts'

/** In the credentials of all connections; the last one's is `…-2`. */
export const CREDENTIAL = 'sk-contract'

export interface Reply {
  readonly status: number
  readonly contentType: string
  /** Empty when the connection broke. */
  readonly bytes: Uint8Array
  readonly broke: boolean
}

export interface Contracted {
  readonly vendor: ScriptedUpstream
  /** Calls since the last `script`. */
  calls(): readonly RecordedRequest[]
  /** From now on the vendor answers so; default: as the contract says. */
  script(step: Step): void
  send(signal?: AbortSignal): Promise<Reply>
  /** Answers that plugins read. */
  readonly read: OperationAnswer[]
  /** Resolves with the end of the last request. */
  settled(): Promise<{ ctx: RequestContext; outcome: Outcome }>
}

interface Options {
  connections?: number
  /** A plugin copies every answer, so that the gateway decodes and encodes it. */
  copies?: boolean
}

export async function contracted(
  contract: OperationContract,
  { connections = 1, copies = false }: Options,
  use: (c: Contracted) => Promise<void>,
): Promise<void> {
  const { provider, operation, model = 'model-1', path = driverOf(operation).routes[0]?.path ?? '' } = contract
  const vendor = await scriptedUpstream(choose((request) => contract.vendor(request)))
  const read: OperationAnswer[] = []
  const reader = definePlugin({
    name: 'contract-reader',
    setup(gateway) {
      if (!copies) return
      gateway.hook('response', (_ctx, answer) => {
        read.push(answer as OperationAnswer)
        return structuredClone(answer) as never
      })
    },
  })
  const baseUrl = addressOf(contract, vendor.port)
  const t = await createTestGateway({
    config: {
      plugins: preset({ resilience: false }),
      providers: [provider],
      connections: Object.fromEntries(
        Array.from({ length: connections }, (_, at) => [
          `contract-${at + 1}`,
          { provider: provider.id, baseUrl, apiKey: `${CREDENTIAL}-${at + 1}`, priority: at + 1 },
        ]),
      ),
    },
    plugins: [reader()],
  })
  let sent = 0
  try {
    await use({
      vendor,
      read,
      calls: () => vendor.requests,
      script(step) {
        vendor.requests.length = 0
        vendor.script(step)
      },
      async send(signal) {
        const body = contract.request(`${provider.id}/${model}`)
        sent += 1
        const form = body instanceof FormData
        const response = await t.fetch(path, {
          method: 'POST',
          body: form ? body : JSON.stringify(body),
          ...(form ? {} : { headers: { 'content-type': 'application/json' } }),
          ...(signal === undefined ? {} : { signal }),
        })
        const bytes = await response.arrayBuffer().then(
          (all) => new Uint8Array(all),
          () => null,
        )
        const contentType = response.headers.get('content-type') ?? ''
        return { status: response.status, contentType, bytes: bytes ?? new Uint8Array(0), broke: bytes === null }
      },
      async settled() {
        await t.untilSettled(sent)
        assert.equal(t.settled.length, sent, 'each request settles once')
        return t.settled.at(-1) as { ctx: RequestContext; outcome: Outcome }
      },
    })
  } finally {
    await t.close()
    await vendor.close()
  }
}

export function driverOf(operation: MediaOperation): OperationDriver {
  const driver = operations.find(({ id }) => id === operation)
  assert.ok(driver !== undefined, `${operation} is not an operation`)
  return driver
}

/** Returns the vendor's address with the path of the provider's own. */
function addressOf({ provider, operation }: OperationContract, port: number): string {
  const own = provider.operations?.[operation]?.baseUrl ?? provider.baseUrl ?? 'https://vendor.invalid/v1'
  return `http://127.0.0.1:${port}${new URL(own).pathname.replace(/\/$/, '')}`
}
