// Checks the events of one stream: parts open, grow and close in order, `part_stop` carries what the deltas said, and the stream ends.
import assert from 'node:assert/strict'
import type { Part } from '../../core/types/request/canonical.ts'
import type { StreamEvent } from '../../core/types/request/stream.ts'

/** @throws AssertionError that says which rule the events break. */
export function checkStream(events: readonly StreamEvent[], where: string): void {
  const open = new Map<string, Map<string, string>>()
  const closed = new Set<string>()
  const finished = new Set<number>()
  let ended = false
  for (const event of events) {
    assert.ok(!ended || event.e === 'ping', `${where}: \`${event.e}\` after \`end\``)
    if (event.e === 'end' || event.e === 'error') ended = true
    if (event.e === 'finish') finished.add(event.choice)
    if (!('part' in event)) continue
    const part = `${event.choice}.${event.part}`
    const name = `part ${event.part} of choice ${event.choice}`
    if (event.e === 'part_start') {
      assert.ok(!open.has(part) && !closed.has(part), `${where}: ${name} starts twice`)
      open.set(part, new Map())
      continue
    }
    const said = open.get(part)
    assert.ok(said, `${where}: \`${event.e}\` of ${name}, which is not open`)
    if (event.e === 'delta') {
      for (const [member, piece] of Object.entries(event.d))
        if (typeof piece === 'string') said.set(member, (said.get(member) ?? '') + piece)
      continue
    }
    for (const [member, text] of textsOf(event.full))
      assert.equal(
        said.get(member) ?? '',
        text,
        `${where}: the deltas of \`${member}\` and the \`full\` of \`part_stop\` differ in ${name}. Change both alike, and release held text before \`part_stop\``,
      )
    open.delete(part)
    closed.add(part)
  }
  assert.equal([...open.keys()].join(), '', `${where}: parts without \`part_stop\``)
  assert.ok(ended, `${where}: the stream has no \`end\``)
  for (const part of closed) assert.ok(finished.has(Number(part.split('.')[0])), `${where}: a choice without \`finish\``)
}

/** The texts of a part that its deltas must add up to. A part may come without deltas, for example one that an upstream sends whole. */
function textsOf(full: Part): [member: string, text: string][] {
  if (full.t === 'text') return [['text', full.text]]
  if (full.t === 'refusal') return [['refusal', full.text]]
  if (full.t === 'tool_call') return [['args', full.args]]
  if (full.t === 'reasoning' && full.redacted === undefined) return [['reasoning', full.text]]
  return []
}
