// Which node of a long list shows which row.
import { useRef } from 'preact/hooks'

/**
 * Returns the key of the node of each row in the window. A row that stays keeps its node, and with it the focus. When the list jumps to rows
 * of which none was there, the nodes get other rows in their order, which takes less time than new nodes.
 * @param held whether the node at this place of the window before may not show another row
 */
export function useSlots(keys: readonly string[], held: (place: number) => boolean): readonly number[] {
  const slots = useRef({ of: new Map<string, number>(), made: 0 }).current
  const free = keys.some((key) => slots.of.has(key)) ? [] : [...slots.of.values()].filter((_, place) => !held(place))
  slots.of = new Map(keys.map((key, place) => [key, slots.of.get(key) ?? free[place] ?? slots.made++]))
  return keys.map((key) => slots.of.get(key) as number)
}
