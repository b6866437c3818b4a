/** What a table has for a name that came from outside: `valueOf` and the like are in every object, but in no table. */
export function entryOf<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined
}
