// Plain tables for a terminal: columns as wide as their content, the last one free.

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)))
  const line = (cells: readonly string[]) =>
    cells.map((cell, column) => (column === cells.length - 1 ? cell : cell.padEnd(widths[column] ?? 0))).join('  ')
  return [line(head), line(head.map((title) => '─'.repeat(title.length))), ...rows.map(line)].join('\n')
}
