// A plugin's migrations may name only the plugin's own tables and indexes, so that plugins can be added and removed.

const NAME = String.raw`(?:if\s+(?:not\s+)?exists\s+)?((?:"[^"]+"|[\w.]+))`
const NAMED: readonly RegExp[] = [
  new RegExp(
    String.raw`\b(?:create|alter|drop)\s+(?:unique\s+|temp\s+|temporary\s+|unlogged\s+|virtual\s+|materialized\s+)*(?:table|index|view|trigger|sequence)\s+(?:concurrently\s+)?${NAME}`,
    'gi',
  ),
  new RegExp(String.raw`\bindex\s+${NAME}\s+on\s+(?:only\s+)?((?:"[^"]+"|[\w.]+))`, 'gi'),
  new RegExp(String.raw`\b(?:insert|replace)\s+(?:or\s+\w+\s+)?into\s+${NAME}`, 'gi'),
  new RegExp(String.raw`\bdelete\s+from\s+(?:only\s+)?${NAME}`, 'gi'),
  /\bupdate\s+(?:or\s+\w+\s+)?(?:only\s+)?((?:"[^"]+"|[\w.]+))\s+set\b/gi,
  new RegExp(String.raw`\brename\s+to\s+${NAME}`, 'gi'),
  new RegExp(String.raw`\breferences\s+${NAME}`, 'gi'),
]

/** `rate-limits` → `rate_limits`. */
export function tablePrefix(plugin: string): string {
  return plugin
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_|_$/g, '')
}

/** Names in `text` that are not the plugin's. */
export function foreignTables(plugin: string, text: string): string[] {
  const prefix = tablePrefix(plugin)
  const code = text.replace(/--[^\n]*|\/\*[\s\S]*?\*\//g, ' ').replace(/'(?:[^']|'')*'/g, "''")
  const names = NAMED.flatMap((pattern) => [...code.matchAll(pattern)].flatMap((match) => match.slice(1)))
    .filter((name) => name !== undefined)
    .map((name) => name.replaceAll('"', '').toLowerCase())
  return [...new Set(names)].filter((name) => name !== prefix && !name.startsWith(`${prefix}_`))
}
