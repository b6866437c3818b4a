/** Returns the table's entry for an untrusted name. Inherited names such as `valueOf` are not entries. */
export function entryOf<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined
}
