// Prints log lines for people: time, level, event and fields on one line. Scripts read JSON lines instead.
import { jsonLog } from '../../../core/log.ts'
import { systemClock } from '../../../core/timing/clock.ts'
import type { Clock, Logger } from '../../../core/types/ports/ports.ts'
import { failUsage } from '../fail.ts'
import { printable, styled } from './table.ts'

const STYLES = { debug: 'dim', info: 'green', warn: 'yellow', error: 'red' } as const

type Write = (line: string) => void

/** `json` or `pretty`; by default pretty on a terminal. @throws WrongUsage for another format. */
export function serverLog(asked: string | undefined, isTerminal: boolean, write: Write): Logger {
  const form = asked ?? (isTerminal ? 'pretty' : 'json')
  if (form === 'json') return jsonLog(systemClock, { write })
  if (form === 'pretty') return terminalLog(systemClock, write)
  return failUsage(`--log: \`${form.slice(0, 60)}\` is neither \`json\` nor \`pretty\`.`)
}

export function terminalLog(clock: Clock, write: Write): Logger {
  const line = (text: string) => {
    const { time, level, message, hint, ...fields } = JSON.parse(text) as Record<string, unknown>
    const rest = Object.entries(fields).map(([name, value]) => `${styled(`${name}=`, 'dim')}${shown(value)}`)
    const head = [
      styled(String(time).slice(11, 19), 'dim'),
      styled(String(level).padEnd(5), STYLES[level as keyof Logger]),
      message,
    ]
    write([...head, ...rest].join(' ') + (hint === undefined ? '' : `\n         ${printable(String(hint))}`))
  }
  return jsonLog(clock, { write: line })
}

function shown(value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value)
  return /^[\w.:/@+-]+$/.test(value) ? value : JSON.stringify(printable(value))
}
