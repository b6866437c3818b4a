// Runs remote detectors on whole texts, a few at a time, each with its own timeout.
import type { Clock } from '../../core/types/ports/ports.ts'
import type { Inspection } from './inspection.ts'
import type { Finding, RemoteDetector, TextInfo } from './service.ts'

interface RemoteUse {
  readonly clock: Clock
  readonly inspection: Inspection
  /** Aborts all calls: the client left. */
  readonly signal: AbortSignal
}

export interface InfoText {
  readonly text: string
  readonly info: TextInfo
}

const DEFAULT_TIMEOUT_MS = 2000
const AT_ONCE = 8

/** Returns the replacement of each text, in order. @throws GatewayError with a detector's decision, or the reason of `signal`. */
export async function askRemote(
  detectors: readonly RemoteDetector[],
  texts: readonly InfoText[],
  use: RemoteUse,
): Promise<string[]> {
  const out = texts.map(({ text }) => text)
  for (const detector of detectors) {
    for (let at = 0; at < texts.length; at += AT_ONCE) {
      const asked = texts
        .slice(at, at + AT_ONCE)
        .map(({ info }, index) => answered(detector, out[at + index] as string, info, use))
      const answers = await Promise.all(asked)
      for (const [index, findings] of answers.entries()) {
        const { info } = texts[at + index] as InfoText
        const text = out[at + index] as string
        for (const { entity } of findings) use.inspection.findings.add(detector.name, entity, detector.mode, info.direction)
        if (detector.mode === 'redact') out[at + index] = redacted(text, findings)
      }
    }
  }
  return out
}

async function answered(
  detector: RemoteDetector,
  text: string,
  info: TextInfo,
  { clock, inspection, signal }: RemoteUse,
): Promise<readonly Finding[]> {
  if (text === '') return []
  signal.throwIfAborted()
  const ended = new AbortController()
  const leave = (): void => ended.abort(signal.reason)
  signal.addEventListener('abort', leave, { once: true })
  const timer = clock.timer(detector.timeoutMs ?? DEFAULT_TIMEOUT_MS, () => ended.abort(new Error('The detector was too slow.')))
  try {
    const late = new Promise<never>((_, reject) => {
      ended.signal.addEventListener('abort', () => reject(ended.signal.reason as Error), { once: true })
    })
    return await Promise.race([detector.check(text, info, ended.signal), late])
  } catch (error) {
    // A client that left is not a failure of the detector.
    signal.throwIfAborted()
    inspection.broken(detector.name, detector.failOpen ?? detector.mode !== 'block', error)
    return []
  } finally {
    timer.cancel()
    signal.removeEventListener('abort', leave)
  }
}

function redacted(text: string, findings: readonly Finding[]): string {
  const spans = findings
    .map(({ entity, start = 0, end = text.length }) => ({ entity, start, end }))
    .sort((a, b) => a.start - b.start)
  let out = ''
  let at = 0
  for (const { entity, start, end } of spans) {
    if (end <= at) continue
    const label = entity.toUpperCase().replace(/[^A-Z0-9]+/g, '_')
    // The tail of a finding that overlaps the previous one is dropped with it.
    out += start < at ? '' : `${text.slice(at, start)}[${label}_REDACTED]`
    at = end
  }
  return out + text.slice(at)
}
