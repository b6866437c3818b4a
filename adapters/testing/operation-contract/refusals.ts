// The contract of an operation's codec: refusals of the vendor, and callers that leave.
import assert from 'node:assert/strict'
import type { ContractCase } from '../contracts/contract.ts'
import { choose, hang, type RecordedRequest, raw, type Step } from '../script.ts'
import type { OperationContract } from './options.ts'
import { type Contracted, CREDENTIAL, contracted, driverOf } from './run.ts'

const REASON = 'the vendor says why'

export function refusalCases(contract: OperationContract): ContractCase[] {
  return [
    {
      name: 'a 400 is returned at once, with the vendor’s reason',
      run: () =>
        contracted(contract, { connections: 2 }, async (c) => {
          c.script(refusal(400))
          assert.match(await refused(c, 400), new RegExp(REASON))
          assert.equal(c.calls().length, 1, 'a request that is wrong is not sent again')
        }),
    },
    {
      name: 'a refused credential is 502, and no part of it is in the answer',
      run: () =>
        contracted(contract, {}, async (c) => {
          c.script(raw(401, JSON.stringify({ error: { message: `The key ${CREDENTIAL}-1 is wrong.`, type: 'auth' } })))
          assert.ok(!(await refused(c, 502)).includes(CREDENTIAL), 'the answer contains the credential')
        }),
    },
    ...[429, 500].map(
      (status): ContractCase => ({
        name: `a ${status} keeps its status, and the next connection is tried where the operation allows it`,
        run: () =>
          contracted(contract, { connections: 2 }, async (c) => {
            c.script(refusal(status))
            assert.match(await refused(c, status), new RegExp(REASON))
            c.script(choose((request) => (isLast(request) ? contract.vendor(request) : refusal(status))))
            const { status: second } = await c.send()
            assert.equal(second, driverOf(contract.operation).connections === 'all' ? 200 : status)
            await c.settled()
          }),
      }),
    ),
    {
      name: 'a caller that leaves ends the call to the vendor',
      run: () => contracted(contract, { connections: 2 }, left),
    },
  ]
}

function refusal(status: number): Step {
  return raw(status, JSON.stringify({ error: { message: REASON, type: 'refused' } }))
}

function isLast({ headers, path }: RecordedRequest): boolean {
  return JSON.stringify([headers, path]).includes(`${CREDENTIAL}-2`)
}

/** Returns the message of the error. */
async function refused(c: Contracted, expected: number): Promise<string> {
  const { status, bytes } = await c.send()
  const text = Buffer.from(bytes).toString()
  assert.equal(status, expected, text)
  const { outcome } = await c.settled()
  assert.deepEqual(outcome.steps, [], 'nothing is charged')
  return (JSON.parse(text) as { error: { message: string } }).error.message
}

async function left(c: Contracted): Promise<void> {
  c.script(hang())
  const leaving = new AbortController()
  const sending = c.send(leaving.signal).catch(() => null)
  await until(() => c.calls().length > 0, 'the vendor is called')
  leaving.abort()
  await sending
  const { outcome } = await c.settled()
  assert.ok(outcome.aborted, 'the request counts as aborted')
  await until(() => c.calls()[0]?.abortedAt !== null, 'the call to the vendor ends')
  assert.equal(c.calls().length, 1, 'no other connection is tried for a caller that left')
}

async function until(condition: () => boolean, what: string): Promise<void> {
  const limit = performance.now() + 15_000
  while (!condition()) {
    assert.ok(performance.now() < limit, `${what} within 15 s`)
    await new Promise((resolve) => setImmediate(resolve))
  }
}
