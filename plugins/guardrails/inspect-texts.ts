// Inspects many long texts in steps, and yields to other requests in between.
import { InjectionScore, type InjectionSource } from './detectors/prompt-injection.ts'
import { type Inspection, readAfter } from './inspection.ts'
import type { InjectionPolicy } from './policy.ts'
import type { Direction, TextInfo } from './service.ts'
import type { Place } from './texts.ts'

export interface PlacedText {
  readonly text: string
  readonly place: Place
}

interface Inspected {
  readonly inspection: Inspection
  readonly direction: Direction
  readonly injection: readonly InjectionPolicy[]
  /** Called between two steps. */
  readonly due: () => boolean
}

/** Characters per step; fewer when an operator's expressions run, because those are slower. */
const STEP = 8192
const MIN_STEP = 2048

/** Returns the replacement of each text, in order. @throws GatewayError with a detector's decision. */
export function* inspectTexts(texts: readonly PlacedText[], use: Inspected): Generator<void, string[]> {
  const out: string[] = []
  for (const { text, place } of texts) {
    for (const policy of use.injection) {
      const source = injectionSource(place, policy)
      if (source !== null) yield* judge(text, source, policy, use)
    }
    out.push(yield* inspect(text, place, use))
    if (use.due()) yield
  }
  return out
}

/** Runs synchronously when the work is short, otherwise in steps. */
export function driven<T>(steps: Generator<void, T>): T | Promise<T> {
  const first = steps.next()
  return first.done === true ? first.value : goOn(steps)
}

async function goOn<T>(steps: Generator<void, T>): Promise<T> {
  for (;;) {
    await new Promise<void>((resolve) => setImmediate(resolve))
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

function* inspect(text: string, place: Place, { inspection, direction, due }: Inspected): Generator<void, string> {
  const info: TextInfo = { direction, role: place.role, place: place.place }
  if (text.length <= STEP) return readAfter(place.lead, text, (whole) => inspection.text(whole, info))
  const scanner = inspection.scanner(info)
  const step = Math.max(MIN_STEP, Math.floor(STEP / (1 + inspection.slowRules / 4)))
  let seen = ''
  for (let at = 0; at < text.length; at += step) {
    seen += scanner.push(text.slice(at, at + step))
    if (due()) yield
  }
  return seen + scanner.end()
}

function* judge(
  text: string,
  source: InjectionSource,
  { action, threshold }: InjectionPolicy,
  { inspection, due }: Inspected,
): Generator<void, void> {
  const score = new InjectionScore(source)
  for (let at = 0; at < text.length; at += STEP) {
    score.add(text.slice(at, at + STEP))
    if (score.score >= threshold) return inspection.findings.add('prompt_injection', 'prompt_injection', action, 'input')
    if (due()) yield
  }
}

/** Instructions of the owner and of the model are not injections. */
function injectionSource({ role, place }: Place, { toolResults }: InjectionPolicy): InjectionSource | null {
  if (role === 'tool' || place === 'tool_result') return toolResults ? 'tool' : null
  return role === 'user' ? 'user' : null
}
