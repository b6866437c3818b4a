// Detectors of other plugins that judge at once, as rules over windows of a text.
import { WINDOWS } from './policy.ts'
import { CONTEXT, type Rule, type Span } from './rule.ts'
import type { LocalDetector, TextInfo } from './service.ts'

export function localRule(detector: LocalDetector, info: TextInfo): Rule {
  let shown: { text: string; from: number; spans: readonly Span[] } | null = null
  const spansIn = (text: string, from: number) => {
    const lead = Math.max(0, from - CONTEXT)
    return detector
      .check(text.slice(lead), info)
      .map(({ entity, start = 0, end = text.length - lead }) => ({
        entities: [entity],
        start: start + lead,
        end: end + lead,
        read: end + lead + 1,
      }))
      .filter(({ start, end }) => Number.isInteger(start) && end > start && end <= text.length)
      .sort((a, b) => a.start - b.start)
  }
  return {
    detector: detector.name,
    entity: 'finding',
    action: detector.mode,
    failOpen: detector.failOpen ?? detector.mode !== 'block',
    minHits: null,
    ...WINDOWS[info.direction],
    find(text: string, from: number): Span | null {
      if (shown === null || shown.text !== text || from < shown.from) shown = { text, from, spans: spansIn(text, from) }
      return shown.spans.find(({ start }) => start >= from) ?? null
    },
  }
}
