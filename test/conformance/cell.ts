// One cell of the matrix: a feature between one caller and one upstream, streamed or not. Every exchange is checked on both sides, and
// the cell's class is the observed one.
import { expect } from 'vitest'
import type { Reply } from '../../adapters/testing/replies/reply.ts'
import { reply as replied, type Step } from '../../adapters/testing/script.ts'
import { RENDERERS } from '../../adapters/testing/scripted-upstream.ts'
import type { Dialect } from '../../core/types/request/canonical.ts'
import type { Observed } from './callers/caller.ts'
import { type Answer, type Ask, meaning } from './neutral.ts'
import { checkShape } from './readers/strict.ts'
import type { Wire } from './readers/wire.ts'
import { express, type Note, tell, utterance } from './represent.ts'
import { credentials, MODELS, pathOf, READERS, type World } from './world.ts'

export type Class = 'lossless' | 'converted' | 'warned' | 'refused'

export interface Outcome {
  class: Class
  /** Notes of a converted cell, slugs of a warned one, the param of a refused one. */
  detail: string[]
}

export interface Exchange {
  observed: Observed
  /** The upstream's request; null when it was not called. */
  received: Wire | null
  text: string
}

/** Clients distinguish answers by the form of the id. */
const ID_FORMS: Readonly<Record<Dialect, RegExp>> = {
  chat: /^chatcmpl-\w/,
  messages: /^msg_\w/,
  responses: /^resp_\w/,
  generate_content: /^[\w-]{10,}$/,
}

export class Cell {
  readonly world: World
  readonly caller: Dialect
  readonly upstream: Dialect
  readonly stream: boolean
  model: string
  readonly #notes = new Set<Note>()
  readonly #warnings = new Set<string>()
  #refused: string | null = null
  #differs = false

  constructor(world: World, caller: Dialect, upstream: Dialect, stream: boolean) {
    this.world = world
    this.caller = caller
    this.upstream = upstream
    this.stream = stream
    this.model = MODELS[upstream]
  }

  get same(): boolean {
    return this.caller === this.upstream
  }

  get refused(): boolean {
    return this.#refused !== null
  }

  /** Records that content arrived in another form, by this rule. */
  note(note: Note): void {
    this.#notes.add(note)
    this.#differs = true
  }

  /** Sends a request and checks both sides. `expected`: the upstream's request when the rules do not define it. */
  async exchange(meant: Ask, scripted: Reply, expected?: (ask: Ask) => Ask): Promise<Exchange> {
    const reply = { model: 'vendor-model-2026-11', ...scripted }
    const asked = express(this.caller, meant, 'client').value
    const exchange = await this.send(asked, replied(reply))
    const { observed, received } = exchange
    if (this.#refusal(observed, received)) return exchange
    expect(observed.failure).toBeNull()
    this.#checkRequest(asked, expected)
    this.#checkAnswer(observed, reply)
    if (this.same) this.#checkBytes(exchange, reply)
    for (const slug of observed.warnings) this.#warnings.add(slug)
    return exchange
  }

  /** Sends without checking the outcome. */
  async send(asked: Ask, ...script: Step[]): Promise<Exchange> {
    const { upstream, callers } = this.world
    upstream.requests.length = 0
    upstream.script(...script)
    const observed = await callers[this.caller].send(this.model, asked, this.stream)
    expect(upstream.requests.length).toBeLessThanOrEqual(1)
    const [request] = upstream.requests
    return { observed, received: request?.json ?? null, text: request?.text ?? '' }
  }

  outcome(): Outcome {
    if (this.#refused !== null) return { class: 'refused', detail: [this.#refused] }
    if (this.#warnings.size > 0) return { class: 'warned', detail: [...this.#warnings].sort() }
    if (!this.#differs) return { class: 'lossless', detail: [] }
    expect([...this.#notes], 'something changed and no rule says why').not.toEqual([])
    return { class: 'converted', detail: [...this.#notes].sort() }
  }

  #refusal({ failure }: Observed, received: Wire | null): boolean {
    if (failure?.code !== 'unsupported_for_target') return false
    expect(failure.status).toBe(400)
    expect(received, 'a refusal comes before any upstream call').toBeNull()
    expect(failure.param).toEqual(expect.stringMatching(/./))
    this.#refused = failure.param as string
    return true
  }

  #checkRequest(asked: Ask, expected?: (ask: Ask) => Ask): void {
    const request = this.world.upstream.requests[0]!
    expect(request.path).toBe(pathOf(this.upstream, this.model, this.stream))
    expect(Object.values(credentials(request))).toEqual([expect.stringMatching(/^(Bearer )?sk-upstream$/)])
    if (this.upstream !== 'generate_content') expect(request.json.model).toBe(this.model.slice(this.model.indexOf('/') + 1))
    expect(request.stream).toBe(this.stream)
    if (!this.same) checkShape(this.upstream, request.json)
    const seen = READERS[this.upstream](request)
    const said = this.same
      ? { value: express(this.upstream, asked, 'client').value, notes: [] }
      : express(this.upstream, asked, 'gateway')
    const wanted = normal(expected === undefined ? said.value : expected(said.value))
    expect(seen, 'what the upstream received').toEqual(wanted)
    this.#compare(seen, normal(asked), said.notes)
  }

  #checkAnswer(observed: Observed, reply: Reply): void {
    const said = utterance(this.upstream, meaning(this.#named(reply)))
    const told = tell(this.caller, this.upstream, said)
    const answer = observed.answer as Answer
    expect(answer, 'what the SDK returned').toEqual({
      ...told.value,
      calls: told.value.calls.map((call) => ({ ...call, id: expect.any(String) })),
    })
    expect(observed.id).toMatch(ID_FORMS[this.caller])
    expect(answer.calls.map((call) => call.id)).toEqual(said.calls.map((call) => call.id))
    if (this.stream && said.text.length > 8) expect(observed.deltas, 'text pieces').toBeGreaterThan(1)
    this.#compare(answer, said, told.notes)
  }

  /** Callers of messages get the requested model's name, all others the serving model's. */
  #named(reply: Reply): Reply {
    return this.caller === 'messages' ? { ...reply, model: this.model } : reply
  }

  /** Same dialect: the caller's bytes reach the upstream except for the model, and the upstream's bytes come back. */
  #checkBytes({ observed, received }: Exchange, reply: Reply): void {
    const { model: _sent, stream_options: _asked, ...sent } = observed.sent
    const { model: _received, stream_options: _wanted, ...got } = received as Wire
    expect(got).toEqual(sent)
    const renderer = RENDERERS[this.upstream]
    if (!this.stream) expect(observed.raw).toBe(JSON.stringify(renderer.json(this.#named(reply))))
    else expect(observed.raw).toBe(renderer.frames(this.#named(reply)).join(''))
  }

  #compare(seen: unknown, meant: unknown, notes: readonly Note[]): void {
    let equal = true
    try {
      expect(seen).toEqual(meant)
    } catch {
      equal = false
    }
    if (equal) return
    this.#differs = true
    for (const note of notes) this.#notes.add(note)
  }
}

/** Returns an Ask in the form of the readers. */
function normal(ask: Ask): Ask {
  return { ...ask, turns: ask.turns.map(({ role, pieces }) => ({ role, pieces })) }
}
