// The contract of an operation's codec: answers that cannot be read, that break off, and that have a wrong value in any one place. Each is an
// answer of the operation's schema or an upstream error. The gateway itself never fails on one.
import assert from 'node:assert/strict'
import type { ContractCase } from '../contracts/contract.ts'
import { choose, raw, type Step } from '../script.ts'
import type { OperationContract } from './options.ts'
import { type Contracted, contracted, driverOf, type Reply } from './run.ts'

const UNREADABLE: Readonly<Record<string, string>> = {
  'an empty body': '',
  'half a JSON text': '{"data":[{"id":1',
  'a page of HTML': '<html><body>Bad gateway</body></html>',
  'a list': '[]',
  null: 'null',
  'a text': '"ok"',
  'an error': '{"error":{"message":"it did not work"}}',
}

/** In place of each value of an answer. */
const WRONG: readonly unknown[] = [null, 'wrong', -7.5, [], {}, [null]]
/** Bound of the places that are tried in one answer. */
const MOST_PLACES = 40

export function brokenAnswerCases(contract: OperationContract): ContractCase[] {
  return [
    {
      name: 'an answer that cannot be read is an upstream error',
      run: () =>
        contracted(contract, {}, async (c) => {
          for (const [what, body] of Object.entries(UNREADABLE)) {
            c.script(raw(200, body, { contentType: body.startsWith('<') ? 'text/html' : 'application/json' }))
            const reply = await c.send()
            assert.equal(reply.status, 502, `${what}: ${textOf(reply)}`)
            await charged(c, what)
          }
        }),
    },
    {
      name: 'an answer that breaks off never looks complete',
      run: () =>
        contracted(contract, {}, async (c) => {
          c.script(choose((request) => halfOf(contract.vendor(request))))
          const reply = await c.send()
          assert.ok(reply.broke || reply.status === 502, `${reply.status} ${textOf(reply)}`)
          await c.settled()
        }),
    },
    {
      name: 'a wrong value in any place of an answer is an upstream error, or the caller’s answer is valid without it',
      run: () => contracted(contract, { copies: true }, (c) => wrongValues(contract, c)),
    },
  ]
}

async function wrongValues(contract: OperationContract, c: Contracted): Promise<void> {
  const first = await c.send()
  assert.equal(first.status, 200, textOf(first))
  const answers = c.calls().map((request) => jsonOf(contract.vendor(request)))
  for (const [call, json] of answers.entries()) {
    for (const place of placesOf(json).slice(0, MOST_PLACES)) {
      for (const value of WRONG) {
        let calls = 0
        c.script(
          choose((request) => {
            const step = contract.vendor(request)
            return calls++ === call
              ? raw(200, JSON.stringify(replaced(json, place, value)), { contentType: 'application/json' })
              : step
          }),
        )
        const reply = await c.send()
        assertAnswered(contract, reply, `call ${call + 1}, ${place.join('.')} = ${JSON.stringify(value)}`)
      }
    }
  }
  await c.settled()
}

/** @throws when the gateway failed, or when an answer is not one of the operation. */
function assertAnswered({ operation }: OperationContract, reply: Reply, where: string): void {
  const text = textOf(reply)
  assert.notEqual(reply.status, 500, `the codec failed. ${where}: ${text}`)
  assert.doesNotMatch(text, /plugin_failed|internal_error/, where)
  if (reply.status !== 200) return
  const schema = driverOf(operation).routes[0]?.response
  if (schema === undefined || !/\bjson\b/.test(reply.contentType)) return
  const { success, error } = schema.safeParse(JSON.parse(Buffer.from(reply.bytes).toString()))
  assert.ok(success, `the answer is not valid. ${where}: ${error?.message} ${text}`)
}

async function charged(c: Contracted, what: string): Promise<void> {
  const { outcome } = await c.settled()
  assert.deepEqual(outcome.steps, [], `${what} is not charged`)
}

/** Returns a JSON answer; an answer of another type has no places. */
function jsonOf(step: Step): unknown {
  if (step.kind !== 'raw' || !/\bjson\b/.test(step.contentType ?? 'application/json')) return null
  try {
    return JSON.parse(Buffer.from(step.body).toString()) as unknown
  } catch {
    return null
  }
}

type Place = readonly (string | number)[]

/** Returns the path of every member; the items of a list are alike, so only the first one counts. */
function placesOf(value: unknown): Place[] {
  if (typeof value !== 'object' || value === null) return []
  const members = Array.isArray(value) ? value.slice(0, 1).entries() : Object.entries(value)
  return [...members].flatMap(([name, member]): Place[] => [[name], ...placesOf(member).map((rest) => [name, ...rest])])
}

function replaced(json: unknown, [name, ...rest]: Place, value: unknown): unknown {
  if (name === undefined) return value
  const copy = structuredClone(json) as Record<string | number, unknown>
  copy[name] = replaced(copy[name], rest, value)
  return copy
}

function halfOf(step: Step): Step {
  assert.equal(step.kind, 'raw', 'the vendor of a contract answers with raw()')
  const { body } = step as Extract<Step, { kind: 'raw' }>
  return { ...step, cut: { after: Math.floor(body.length / 2), how: 'fin' } }
}

function textOf({ bytes }: Reply): string {
  return Buffer.from(bytes).toString().slice(0, 500)
}
