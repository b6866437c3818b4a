// Detects texts that try to override the owner's instructions to the model: weighted categories, combined as independent signs. One sign
// alone stays below the default threshold, because people also write about such texts.
import { normalised } from './normalise.ts'

interface Category {
  readonly weight: number
  /** All of them must occur in the normalised text. Gaps are limited, so the time is linear. */
  readonly signs: readonly RegExp[]
  /** Only in tool results, or only in users' texts. */
  readonly only?: 'tool' | 'user'
}

const OVERRIDE =
  "ignor(?:e|ing)|disregard(?:ing)?|forget(?:ting)?|overrid(?:e|ing)|bypass(?:ing)?|stop following|do not follow|don't follow|pay no attention to"
const EARLIER = 'previous|prior|earlier|preceding|above|foregoing|existing|original|initial|all|any|your|the system|these|those'
const ORDERS =
  'instructions?|prompts?|rules|guidelines|directives?|commands?|constraints|guardrails|restrictions|programming|training'
const SHOW = 'reveal|show|print|repeat|output|display|disclose|leak|dump|recite|tell me|give me|write out|quote|expose|share'
const HIDDEN =
  'system prompt|system message|system instructions?|initial prompt|initial instructions?|hidden instructions?|hidden prompt|developer message|developer instructions?|your instructions|your prompt|text above|everything above'

const CATEGORIES: Readonly<Record<string, Category>> = {
  instruction_override: {
    weight: 0.6,
    signs: [
      new RegExp(
        [
          String.raw`\b(?:${OVERRIDE})\b.{0,30}\b(?:${EARLIER})\b.{0,30}\b(?:${ORDERS})\b`,
          String.raw`\b(?:your |the )?new (?:instructions?|rules|directives?) (?:are|is|follow|supersede|replace)\b`,
          String.raw`\bfrom now on,? (?:you|ignore|forget|only|your)\b`,
          // German, Spanish, French.
          String.raw`\b(?:ignorier\w{0,4}|vergiss|missachte)\b.{0,40}\b(?:anweisung\w{0,3}|regeln|vorgaben)\b`,
          String.raw`\b(?:ignora|olvida|descarta)\b.{0,40}\b(?:instrucciones|reglas|ordenes)\b`,
          String.raw`\b(?:ignore[sz]?|oublie[sz]?)\b.{0,40}\b(?:instructions|regles|consignes)\b`,
        ].join('|'),
      ),
    ],
  },
  system_prompt_extraction: {
    weight: 0.5,
    signs: [
      new RegExp(
        String.raw`\b(?:${SHOW})\b.{0,40}\b(?:${HIDDEN})\b|\bwhat (?:is|are|was|were) (?:your|the) (?:exact |full |original |initial )?(?:system prompt|system message|instructions)\b`,
      ),
    ],
  },
  persona: {
    weight: 0.5,
    signs: [
      new RegExp(
        [
          String.raw`\b(?:you are|you're|act as|become|pretend (?:to be|you are)|roleplay as|simulate)\b.{0,40}\b(?:dan|do anything now|stan|developer mode|god mode|jailbroken|unrestricted|unfiltered|uncensored|evil (?:twin|assistant)|without (?:any )?(?:restrictions|rules|filters|limits|ethics))\b`,
          String.raw`\b(?:no longer|not) (?:bound|limited|restricted) by (?:any |your |the )?(?:rules|guidelines|policies|restrictions|openai|anthropic|google)\b`,
          String.raw`\b(?:enable|enter|activate|switch to) (?:developer|debug|god|dan|jailbreak|admin|sudo) mode\b`,
        ].join('|'),
      ),
    ],
  },
  fake_delimiters: {
    weight: 0.4,
    signs: [
      new RegExp(
        [
          String.raw`<\|(?:im_start|im_end|system|assistant|endoftext|start_header_id|eot_id)\|>`,
          String.raw`<\/?(?:system|sys|system_prompt|developer|assistant)(?: [^>]{0,40})?>`,
          String.raw`\[\/?(?:inst|system|sys)\]|<<\/?sys>>`,
          String.raw`(?:^|[\s#*=-])(?:#{2,4}|={3,}|-{3,}|\*{2,}) ?(?:system|new system|developer|admin)(?: (?:prompt|message|instructions?|override))?\b ?[:*#=-]`,
          String.raw`\b(?:end|begin|start) of (?:the )?(?:system|user|developer) (?:prompt|message|input|instructions)\b`,
        ].join('|'),
      ),
    ],
  },
  encoded_payload: {
    weight: 0.4,
    signs: [
      /[a-z0-9+/_-]{40,}={0,2}|(?:[0-9a-f]{2} ?){24,}|(?:\\x[0-9a-f]{2}){12,}/,
      /\b(?:decode|decrypt|unscramble|base64|rot13|hex)\b.{0,60}\b(?:follow|execute|obey|run|perform|comply|carry out|do what|act on)\b/,
    ],
  },
  tool_result_order: {
    weight: 0.4,
    only: 'tool',
    signs: [
      new RegExp(
        [
          String.raw`\b(?:ai|assistant|llm|language model|chatbot|agent|claude|gpt|gemini|copilot)\b.{0,20}\b(?:must|should|please|need to|have to|will now|are (?:required|instructed|ordered) to)\b`,
          String.raw`\b(?:important|attention|note|urgent|instructions?)\b.{0,12}\b(?:to|for) (?:the |any |all )?(?:ai|assistants?|llms?|language models?|agents?)\b`,
          String.raw`\b(?:before|instead of|after) (?:answering|responding|replying|continuing|summarizing)\b.{0,30}\b(?:call|send|run|execute|visit|open|fetch|delete|forward)\b`,
          String.raw`\bdo not (?:tell|inform|mention|alert|notify)\b.{0,20}\buser\b`,
        ].join('|'),
      ),
    ],
  },
  exfiltration: {
    weight: 0.4,
    signs: [
      /\b(?:send|post|upload|forward|exfiltrate|leak|transmit|submit|append|embed|encode|include)\b.{0,60}\b(?:conversation|chat history|history|system prompt|instructions|credentials|passwords?|api keys?|secrets?|tokens?|private|personal|user data|emails?|files?|contents?)\b.{0,60}\bhttps?:\/\//,
    ],
  },
}

/** Normalised text is checked in steps of this many characters; each step repeats this much of the previous one. */
const OVERLAP = 256

export type InjectionSource = 'user' | 'tool'

/** The score of one text, which arrives in pieces. */
export class InjectionScore {
  readonly #source: InjectionSource
  readonly #open: { name: string; category: Category; left: readonly RegExp[] }[]
  #tail = ''
  #clear = 1

  constructor(source: InjectionSource) {
    this.#source = source
    this.#open = Object.entries(CATEGORIES)
      .filter(([, { only }]) => only === undefined || only === this.#source)
      .map(([name, category]) => ({ name, category, left: category.signs }))
  }

  add(piece: string): void {
    const text = this.#tail + normalised(piece)
    this.#tail = text.slice(-OVERLAP)
    for (const open of this.#open) {
      if (open.left.length === 0) continue
      open.left = open.left.filter((sign) => !sign.test(text))
      if (open.left.length === 0) this.#clear *= 1 - open.category.weight
    }
  }

  /** 1 − Π(1 − weight) over the found categories; rounded, because 1 − 0.4 is not exactly 0.6. */
  get score(): number {
    return Math.round((1 - this.#clear) * 1000) / 1000
  }
}
