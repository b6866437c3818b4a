// Reasoning over three turns of an agent: the SDK's result is sent back unchanged, and the upstream must get its own secret again. Then
// the same history goes to another vendor, which must not get it.
import { expect } from 'vitest'
import type { Reply } from '../../../adapters/testing/replies/reply.ts'
import type { Dialect } from '../../../core/types/request/canonical.ts'
import type { Cell } from '../cell.ts'
import { type Ask, ask, type Piece, type Turn, user } from '../neutral.ts'
import { checkShape } from '../readers/strict.ts'
import type { Note } from '../represent.ts'
import { READERS, REASONING_MODELS } from '../world.ts'
import type { Feature } from './feature.ts'

const SECRETS = [
  Buffer.from('first secret of the vendor').toString('base64'),
  Buffer.from('second secret +/ü').toString('base64'),
]
const TOOLS = [
  {
    name: 'get_weather',
    description: 'The weather of a city.',
    schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false },
  },
]
/** Each vendor has its own call ids, because the signature cache looks its entries up by them. */
const idAt = (upstream: Dialect): string => `call_${upstream}_1`
const calling = (upstream: Dialect): Reply => ({
  reasoning: { text: 'They want the weather. I look it up.', signature: SECRETS[0]! },
  toolCalls: [{ id: idAt(upstream), name: 'get_weather', args: '{"city":"Rome"}' }],
})
const SPEAKING: Reply = { reasoning: { text: 'It is sunny, I say so.', signature: SECRETS[1]! }, text: 'It is sunny in Rome.' }

export const reasoning: Feature = {
  id: 'reasoning',
  title: 'reasoning, replayed over three turns',
  async run(cell) {
    cell.model = REASONING_MODELS[cell.upstream]
    const turns: Turn[] = [user('What is the weather in Rome?')]
    const asking = (): Ask => ask({ turns: [...turns], tools: TOOLS, effort: 'medium' })

    const first = await cell.exchange(asking(), replyOf(cell.upstream, calling(cell.upstream)))
    turns.push(returned(first.observed.native, pieces(cell.upstream, calling(cell.upstream), SECRETS[0]!)))
    turns.push(user({ t: 'result', id: idAt(cell.upstream), pieces: [{ t: 'text', text: 'sunny' }] }))

    const second = await cell.exchange(asking(), replyOf(cell.upstream, SPEAKING), (asked) => replayed(asked, cell))
    turns.push(returned(second.observed.native, pieces(cell.upstream, SPEAKING, SECRETS[1]!)))
    turns.push(user('And tomorrow?'))

    await cell.exchange(asking(), { text: 'Tomorrow it rains.' }, (asked) => replayed(asked, cell))
    await checkLeaks(cell, asking())
  },
}

/** chat-completions has no secret. */
function replyOf(upstream: Dialect, reply: Reply): Reply {
  return upstream === 'chat' ? { ...reply, reasoning: { text: reply.reasoning!.text } } : reply
}

function returned(native: unknown, said: Piece[]): Turn {
  return { role: 'assistant', pieces: said, native }
}

/** Returns the reply as pieces of the upstream's own history. */
function pieces(upstream: Dialect, reply: Reply, secret: string): Piece[] {
  const thought = { t: 'thought' as const, text: reply.reasoning!.text }
  const signed = upstream === 'messages' || upstream === 'responses'
  const own = upstream === 'generate_content' ? { secret } : {}
  return [
    signed ? { ...thought, secret } : thought,
    ...(reply.text === undefined ? [] : [{ t: 'text' as const, text: reply.text, ...own }]),
    ...(reply.toolCalls ?? []).map(({ id, name, args }) => ({
      t: 'call' as const,
      id,
      name,
      args: JSON.parse(args) as unknown,
      ...own,
    })),
  ]
}

/** Returns the part of the history that reaches the upstream by the rules. */
function replayed(asked: Ask, cell: Cell): Ask {
  if (cell.same) return asked
  return {
    ...asked,
    turns: asked.turns.map((turn) => (turn.role === 'assistant' ? { ...turn, pieces: left(turn.pieces, cell) } : turn)),
  }
}

function left(said: readonly Piece[], cell: Cell): Piece[] {
  const calls = said.some((piece) => piece.t === 'call')
  return said.flatMap((piece): Piece[] => {
    if (piece.t === 'thought') return thought(piece, calls, cell)
    if (piece.t !== 'text' || piece.secret === undefined) return [piece]
    cell.note('text_secret')
    return [{ t: 'text', text: piece.text }]
  })
}

function thought(piece: Piece & { t: 'thought' }, calls: boolean, cell: Cell): Piece[] {
  const without = (note: Note): Piece[] => {
    cell.note(note)
    return []
  }
  if (cell.upstream === 'generate_content') return without('thoughts_unsigned')
  if (cell.upstream === 'chat') return calls ? [piece] : without('thoughts_on_calls')
  if (cell.caller === 'chat' && !calls) return without('secret_kept_back')
  return [piece]
}

async function checkLeaks(cell: Cell, history: Ask): Promise<void> {
  const foreign: Dialect[] = (['messages', 'responses', 'generate_content', 'chat'] as const).filter(
    (other) => other !== cell.upstream,
  )
  for (const other of foreign) {
    cell.model = REASONING_MODELS[other]
    const { observed, text } = await cell.send(history, { kind: 'reply', reply: { text: 'As you like.' } })
    expect(observed.failure).toBeNull()
    const [request] = cell.world.upstream.requests
    if (other !== cell.caller) checkShape(other, request!.json)
    const asked = READERS[other](request!)
    // Anthropic refuses unsigned thoughts, and OpenAI unknown items.
    if (other === 'messages' || other === 'responses') {
      const thoughts = asked.turns.flatMap((turn) => turn.pieces).filter((piece) => piece.t === 'thought')
      expect(thoughts, `thoughts of ${cell.upstream} at ${other}`).toEqual([])
    }
    for (const secret of [...SECRETS, 'gw1.', 'Z3cx'])
      expect(text, `${other} sees a secret of ${cell.upstream}`).not.toContain(secret)
  }
  cell.model = REASONING_MODELS[cell.upstream]
}
