// The scripted model of a session: two calls of a tool that the client offers, then a text that quotes both results. It reads requests in
// all four dialects, because the upstream's dialect differs from the client's.
import { choose, reply, text } from '../../dist/adapters/testing/index.js'

/** Text that occurs only in the two tool results. */
const WORD = /HG-[0-9a-f]{8}/

/**
 * @param tool (name, turn) => arguments for a tool the session uses, or null for one it does not
 * @param finalOf (words) => the final text
 */
export function scriptedModel({ tool, finalOf }) {
  const seen = { turns: 0, offered: [], words: [] }
  const step = choose((request) => {
    const offered = toolNames(request)
    const results = toolResults(request)
    const usable = offered.map((name) => ({ name, args: tool(name, results.length) })).find(({ args }) => args !== null)
    // For titles, summaries and checks that a client requests in addition to the session.
    if (usable === undefined) return text('Tool session')
    seen.offered = offered
    seen.turns = Math.max(seen.turns, results.length + 1)
    if (results.length >= 2) {
      seen.words = results.map((result) => WORD.exec(result)?.[0] ?? 'no-result')
      return text(finalOf(seen.words))
    }
    const call = { id: `call_${results.length}_hookgate`, name: usable.name, args: JSON.stringify(usable.args) }
    return reply({ text: results.length === 0 ? 'I read the first file.' : 'I read the second file.', toolCalls: [call] })
  })
  return { step, seen }
}

function toolNames({ json, dialect }) {
  const tools = Array.isArray(json.tools) ? json.tools : []
  if (dialect === 'chat') return tools.map((one) => one.function?.name).filter(Boolean)
  if (dialect === 'generate_content')
    return tools.flatMap((one) => (one.functionDeclarations ?? []).map((declared) => declared.name))
  return tools.map((one) => one.name).filter(Boolean)
}

/** Returns the text of each tool result, in the order of the conversation. */
function toolResults({ json, dialect }) {
  const own = {
    chat: () => json.messages?.filter(({ role }) => role === 'tool'),
    messages: () => json.messages?.flatMap(({ content }) => parts(content).filter(({ type }) => type === 'tool_result')),
    responses: () => parts(json.input).filter(({ type }) => /_call_output$/.test(type ?? '')),
    generate_content: () => json.contents?.flatMap((turn) => parts(turn.parts).filter((part) => part.functionResponse)),
  }
  return (own[dialect]() ?? []).map((result) => JSON.stringify(result))
}

function parts(content) {
  return Array.isArray(content) ? content : []
}
