// The instruction of each level. The texts are constant, so that prompt caches keep their prefix.

export const CAVEMAN_LEVELS = ['lite', 'full', 'ultra', 'wenyan-lite', 'wenyan', 'wenyan-ultra'] as const
export const PONYTAIL_LEVELS = ['lite', 'full', 'ultra'] as const
export type CavemanLevel = (typeof CAVEMAN_LEVELS)[number]
export type PonytailLevel = (typeof PONYTAIL_LEVELS)[number]

const EXACT = 'Technical terms, code, commands, identifiers, numbers and error messages stay exactly as they are.'
const PLAIN_WHERE_IT_MATTERS =
  'Write normally for security warnings, for actions that cannot be undone, and when the user asks for an explanation. A format the user asks for comes before this style.'
const SAFE_CODE =
  'None of this applies to validation, error handling that prevents data loss, or code that security depends on. What the user asks for explicitly comes first.'

const terse = (style: string): string => `Answer style: ${style} ${EXACT} ${PLAIN_WHERE_IT_MATTERS}`
const classical = (style: string): string =>
  `文體：${style}術語、代碼、命令、標識、數字、錯誤訊息，皆存原文，一字不易。遇安全警示、不可逆之舉、用戶求解釋者，復用常文。用戶所定格式，先於此體。`
const minimal = (style: string): string => `Code style: ${style} ${SAFE_CODE}`

export const CAVEMAN: Readonly<Record<CavemanLevel, string>> = {
  lite: terse(
    'come to the point. No greeting, no praise, no hedging, no summary of what was just said. Keep full sentences and correct grammar.',
  ),
  full: terse(
    'as few words as carry the meaning. Leave out articles and filler, use fragments instead of sentences and the shorter of two words.',
  ),
  ultra: terse(
    'telegram. Common abbreviations, an arrow (→) from cause to effect, lists of bare facts, one word where one word is enough.',
  ),
  'wenyan-lite': classical('半文半白，句求簡潔，不寒暄，不贅述，語法完整。'),
  wenyan: classical('純用文言，省主語虛詞，一句一意，言盡即止。'),
  'wenyan-ultra': classical('極簡文言，以單字代詞，因果用「→」，能一字者不二字。'),
}

export const PONYTAIL: Readonly<Record<PonytailLevel, string>> = {
  lite: minimal(
    'build exactly what was asked. Use what the project already has and change as little as possible. If there is a clearly simpler way, name it in one line.',
  ),
  full: minimal(
    'the best code is none. Take the first that works: not building it, the standard library, a dependency that is already there, one line, the least new code. No abstraction for a later that may not come; rather delete than add.',
  ),
  ultra: minimal(
    'ask first whether code is needed at all, and say so if it is not. No scaffolding, no generalisation, no options nobody asked for. Show changed lines only.',
  ),
}
