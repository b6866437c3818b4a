// The order of one hook's handlers: band, then registration, then before/after by plugin name, which win.
import { topoSort } from '../collections/topo.ts'
import type { HookName } from '../types/hooks.ts'
import type { Registration } from './registry.ts'

const BANDS = { pre: 0, normal: 1, post: 2 }

/** @throws Error naming the hook and the plugins of a cycle. */
export function orderHandlers(hook: HookName, entries: readonly Registration[]): Registration[] {
  const banded = entries
    .map((entry, index) => ({ entry, index }))
    .sort((a, b) => BANDS[a.entry.options.order ?? 'normal'] - BANDS[b.entry.options.order ?? 'normal'] || a.index - b.index)
    .map(({ entry }) => entry)
  const indexesOf = (plugins: string | string[] | undefined, self: Registration): number[] =>
    [plugins ?? []]
      .flat()
      .flatMap((plugin) => banded.flatMap((entry, index) => (entry.plugin === plugin && entry !== self ? [index] : [])))
  const after = banded.map((entry) => indexesOf(entry.options.after, entry))
  banded.forEach((entry, index) => {
    for (const later of indexesOf(entry.options.before, entry)) after[later]?.push(index)
  })
  try {
    return topoSort(banded.map((entry, index) => ({ value: entry, name: entry.plugin, after: after[index] as number[] })))
  } catch (cycle) {
    throw new Error(
      `The order of the hook \`${hook}\` is a circle: ${(cycle as Error).message}. Remove one of their before/after options.`,
    )
  }
}
