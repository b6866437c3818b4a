// Keeps a child process alive: it starts again after a pause when it ends, at most four times in a row. It never outlives this process.
import { type ChildProcess, spawn } from 'node:child_process'
import { credentialsIn, sanitizeMessage } from '../../core/text/sanitize.ts'
import { systemClock } from '../../core/timing/clock.ts'
import type { Clock, Timer } from '../../core/types/ports/ports.ts'

export interface Command {
  readonly program: string
  readonly args: readonly string[]
}

export interface ChildState {
  /** `waiting`: it ended and starts again; `failed`: it ended five times. */
  readonly state: 'off' | 'starting' | 'running' | 'waiting' | 'failed'
  readonly url: string | null
  readonly pid: number | null
  /** Epoch ms. */
  readonly startedAt: number | null
  /** Why it ended last. */
  readonly error: string | null
}

export interface Supervisor {
  readonly state: ChildState
  start(command: Command): void
  /** Resolves when the child has ended. */
  stop(): Promise<void>
}

const MOST_DEATHS = 5
const FIRST_PAUSE_MS = 1000
/** A child that lived so long starts with a clean slate, ms. */
const STABLE_MS = 60_000
/** Between SIGTERM and SIGKILL, ms. */
const GRACE_MS = 3000
const LAST_LINES = 20
const MOST_TEXT = 500

const OFF: ChildState = { state: 'off', url: null, pid: null, startedAt: null, error: null }

/**
 * @param urlIn finds the public address in what the child prints
 * @param changed called after each change of the state
 */
export function supervisor(
  clock: Clock,
  urlIn: (text: string) => string | null,
  changed: (state: ChildState) => void,
): Supervisor {
  let state = OFF
  let child: ChildProcess | null = null
  let pause: Timer | null = null
  let deaths = 0
  const become = (next: Partial<ChildState>): void => {
    state = { ...state, ...next }
    changed(state)
  }

  const launch = (command: Command): void => {
    pause = null
    const from = clock.monotonic()
    const started = spawn(command.program, command.args, { stdio: ['ignore', 'pipe', 'pipe'] })
    child = started
    const killAtExit = (): void => void started.kill('SIGKILL')
    process.on('exit', killAtExit)
    const lines: string[] = []
    let unread = ''
    const read = (chunk: Buffer): void => {
      if (child !== started) return
      unread = `${unread}${chunk}`.slice(-8192)
      const url = state.url === null ? urlIn(unread) : null
      const parts = unread.split('\n')
      unread = parts.pop() ?? ''
      lines.push(...parts.filter((line) => line.trim() !== ''))
      lines.splice(0, lines.length - LAST_LINES)
      if (url !== null) become({ state: 'running', url, error: null })
    }
    started.stdout?.on('data', read)
    started.stderr?.on('data', read)
    let failure: string | null = null
    started.once('error', (error: NodeJS.ErrnoException) => {
      failure = error.code === 'ENOENT' ? `${command.program} is not installed` : error.message
      if (started.pid === undefined) ended(null, null)
    })
    const ended = (code: number | null, signal: string | null): void => {
      process.off('exit', killAtExit)
      if (child !== started) return
      child = null
      const how = failure ?? `${command.program} ended with ${signal ?? `code ${code}`}`
      const last = [...lines, unread].map((line) => line.trim()).findLast((line) => line !== '')
      const text = last === undefined ? how : `${how}: ${last}`
      died(command, sanitizeMessage(text, credentialsIn({ line: text })).slice(0, MOST_TEXT), clock.monotonic() - from)
    }
    started.once('close', ended)
    become({ state: 'starting', url: null, pid: started.pid ?? null, startedAt: clock.now() })
  }

  const died = (command: Command, error: string, livedMs: number): void => {
    deaths = livedMs >= STABLE_MS ? 1 : deaths + 1
    if (deaths >= MOST_DEATHS) return become({ ...OFF, state: 'failed', error })
    become({ ...OFF, state: 'waiting', error })
    pause = clock.timer(FIRST_PAUSE_MS * 2 ** (deaths - 1), () => launch(command), true)
  }

  return {
    get state() {
      return state
    },
    start(command) {
      if (child !== null || pause !== null) return
      deaths = 0
      launch(command)
    },
    async stop() {
      pause?.cancel()
      pause = null
      const running = child
      child = null
      if (running !== null) await end(running)
      if (state !== OFF) {
        state = OFF
        changed(state)
      }
    },
  }
}

/** Processes run in real time, also beside a simulated clock. */
function end(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return Promise.resolve()
  return new Promise((resolve) => {
    const force = systemClock.timer(GRACE_MS, () => child.kill('SIGKILL'))
    child.once('exit', () => {
      force.cancel()
      resolve()
    })
    child.kill('SIGTERM')
  })
}
