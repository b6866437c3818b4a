// Contract tests for a codec of an operation other than chat: request and answer are mapped, usage is read, refusals are classified, a
// caller that leaves ends the call, and no answer of a vendor makes the gateway fail. `for (const { name, run } of
// operationContract({ … })) it(name, run)`.
import assert from 'node:assert/strict'
import type { ContractCase } from '../contracts/contract.ts'
import { brokenAnswerCases } from './answers.ts'
import type { ContractAnswer, OperationContract } from './options.ts'
import { refusalCases } from './refusals.ts'
import { type Contracted, CREDENTIAL, contracted } from './run.ts'

/** Returns cases for any test runner; each starts its own gateway. */
export function operationContract(contract: OperationContract): ContractCase[] {
  const title = `${contract.operation} at ${contract.provider.id}`
  return [...mappingCases(contract), ...refusalCases(contract), ...brokenAnswerCases(contract)].map(({ name, run }) => ({
    name: `${title}: ${name}`,
    run,
  }))
}

function mappingCases(contract: OperationContract): ContractCase[] {
  const { provider, model = 'model-1', usage } = contract
  return [
    {
      name: 'the vendor receives the request, and the credential in a header or the address only',
      run: () =>
        contracted(contract, {}, async (c) => {
          await answer(c)
          assert.ok(c.calls().length > 0, 'the vendor was called')
          contract.received(c.calls())
          for (const { text, path } of c.calls()) {
            assert.ok(!text.includes(CREDENTIAL), 'the credential is in the body')
            assert.ok(!`${path}\n${text}`.includes(`${provider.id}/${model}`), 'the model carries the name of the provider')
          }
        }),
    },
    {
      name: 'the caller gets the vendor’s answer',
      run: () => contracted(contract, {}, async (c) => contract.answered(await answer(c))),
    },
    {
      name: 'a plugin reads the canonical answer, and an answer that it changed is encoded',
      run: () =>
        contracted(contract, { copies: true }, async (c) => {
          contract.answered(await answer(c))
          const [read] = c.read
          assert.ok(read !== undefined && typeof read.model === 'string' && read.model !== '', 'the answer names its model')
          assertUsage(read.usage, usage)
        }),
    },
    {
      name: 'the usage is the vendor’s',
      run: () =>
        contracted(contract, {}, async (c) => {
          await answer(c)
          const { outcome } = await c.settled()
          assertUsage(outcome.usage, usage)
          assert.equal(outcome.steps.length, 1, 'one step is charged')
        }),
    },
  ]
}

async function answer(c: Contracted): Promise<ContractAnswer> {
  const { status, bytes, contentType } = await c.send()
  assert.equal(status, 200, Buffer.from(bytes).toString().slice(0, 500))
  const json = /\bjson\b/.test(contentType) ? (JSON.parse(Buffer.from(bytes).toString()) as Record<string, unknown>) : null
  return { contentType, bytes, json }
}

function assertUsage(usage: unknown, expected: OperationContract['usage']): void {
  const got = usage as Readonly<Record<string, unknown>>
  for (const [name, value] of Object.entries(expected)) assert.deepEqual(got[name], value, `usage: ${name}`)
  for (const name of ['inputTotal', 'outputTotal', 'total'])
    assert.ok(Number.isInteger(got[name]) && (got[name] as number) >= 0, `usage: ${name} is a count`)
}
