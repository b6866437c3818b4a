// Lists that nearly always have one or two members and live as long as a request. An array that grows by push takes room for 17 members.

/** Returns a list with the member at its end. The given one stays as it is. */
export function withMember<T>(list: readonly T[], member: T): readonly T[] {
  return list.length === 0 ? [member] : [...list, member]
}

/** Returns a list without the first place of the member. The given one stays as it is. */
export function withoutMember<T>(list: readonly T[], member: T): readonly T[] {
  const at = list.indexOf(member)
  if (at === -1) return list
  return list.length === 1 ? EMPTY : list.toSpliced(at, 1)
}

export const EMPTY: readonly never[] = Object.freeze([])
