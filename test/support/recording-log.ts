// A log whose lines a test can look at.
import type { Logger } from '../../core/types/ports/ports.ts'

export interface RecordingLog extends Logger {
  readonly lines: { level: keyof Logger; message: string; fields?: object }[]
}

export function recordingLog(): RecordingLog {
  const lines: RecordingLog['lines'] = []
  const at = (level: keyof Logger) => (message: string, fields?: object) => void lines.push({ level, message, fields })
  return { lines, debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}
