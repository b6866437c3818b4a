// Members that strict clients need and many vendors leave out, put into the text of an answer as null: the digits and the order of
// all others stay, and nothing is rewritten.

export type NullMember = 'content' | 'refusal' | 'logprobs'

const CHOICE = '"choices":[{'
const MESSAGE = '"message":{'

/**
 * Adds the missing null members to the only choice. Returns null when their place is uncertain: other white space, or another order of
 * members.
 */
export function withNulls(text: string, missing: readonly NullMember[]): string | null {
  const choice = text.indexOf(CHOICE)
  const message = text.indexOf(MESSAGE, choice)
  if (choice === -1 || message === -1) return null
  const inChoice = choice + CHOICE.length
  const inMessage = message + MESSAGE.length
  // Quotes within strings are escaped, so that both are members, if only of this name.
  if (text[choice - 1] === '\\' || text[message - 1] === '\\') return null
  // No other object may begin earlier, so these are the members of the answer and of its choice.
  if (text.indexOf('{', text.indexOf('{') + 1) !== inChoice - 1 || text.indexOf('{', inChoice) !== inMessage - 1) return null
  if (/[}\]]/.test(text.slice(inChoice, message))) return null
  const comma = text[inMessage] === '}' ? '' : ','
  let choiceNulls = ''
  let messageNulls = ''
  for (const name of missing) {
    if (name === 'logprobs') choiceNulls += `"${name}":null,`
    else messageNulls += `${messageNulls === '' ? '' : ','}"${name}":null`
  }
  if (messageNulls !== '') messageNulls += comma
  return text.slice(0, inChoice) + choiceNulls + text.slice(inChoice, inMessage) + messageNulls + text.slice(inMessage)
}
