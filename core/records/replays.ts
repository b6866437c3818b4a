// The source of calls that shadow evaluation makes: replays of answered requests, and their judges. They are in the books like any other
// call, count against no budget, and take at most half of an account's slots.

export const REPLAY_SOURCE = 'shadow'

export function isReplay({ source }: { readonly source: string }): boolean {
  return source === REPLAY_SOURCE
}
