// The live stream's state and the age of the newest data. The stream is open as long as the shell is: its events refresh the pages.
import { useEffect } from 'preact/hooks'
import { type LiveState, listen, liveAt, liveState } from '../../api/live.ts'
import { answeredAt, unreachableSince } from '../../api/query.ts'
import { now } from '../clock.ts'
import { span } from '../format.ts'
import { me } from '../session/me.ts'

const WORDS: Readonly<Record<LiveState, string>> = {
  live: 'live',
  connecting: 'connecting',
  lost: 'stream lost',
  off: 'idle',
  absent: 'no stream',
}

export function LiveDot() {
  const known = me.value !== null
  useEffect(() => (known ? listen(() => {}) : undefined), [known])
  const state = unreachableSince.value === null ? liveState.value : 'lost'
  const newest = Math.max(liveAt.value, answeredAt.value)
  const age = newest === 0 ? null : Math.max(0, now.value - newest)
  return (
    <span class={`live-dot ${state}`} title={age === null ? undefined : `The newest data is ${span(age)} old.`}>
      <span class="dot" aria-hidden="true" />
      <span class="live-word">{WORDS[state]}</span>
      {age !== null && <span class="age">{span(age)}</span>}
    </span>
  )
}
