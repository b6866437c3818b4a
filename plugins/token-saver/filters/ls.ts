// Shortens long directory listings to names and sizes.
import type { Filter } from './filter.ts'
import { behindColumns, leftOut } from './lines.ts'

const FILES = 200
const ROW = /^[-bcdlps][-rwxsStT]{9}[.+@]?\s+\d+\s/
const NOISE = new Set(['node_modules', '.git', 'dist', 'target', 'venv', '.venv', '__pycache__', '.cache', '.next'])

export const ls: Filter = {
  id: 'ls',
  title: 'ls -l',
  description: 'Keeps names and sizes; folders of dependencies and builds are only named together, and extensions are counted.',
  detects: '`total N`, or at least three rows with permissions.',
  limits: { files: FILES },
  detect: ({ head }) =>
    head.filter((line) => ROW.test(line)).length >= 3 || (/^total \d/.test(head[0] ?? '') && ROW.test(head[1] ?? '')),
  shorten(lines) {
    const out: string[] = []
    const noise: string[] = []
    const extensions = new Map<string, number>()
    let files = 0
    for (const line of lines) {
      if (!ROW.test(line)) {
        if (line.trim() !== '' && !/^total \d/.test(line)) out.push(line)
        continue
      }
      const size = behindColumns(line, 4).split(' ')[0]
      // ISO times use one column less.
      const name = behindColumns(line, /^\d{4}-/.test(behindColumns(line, 5)) ? 7 : 8)
      if (name === '.' || name === '..' || name === '') continue
      if (line.startsWith('d')) {
        if (NOISE.has(name)) noise.push(`${name}/`)
        else out.push(`${name}/`)
        continue
      }
      const dot = name.lastIndexOf('.')
      const extension = dot > 0 ? name.slice(dot) : '(none)'
      extensions.set(extension, (extensions.get(extension) ?? 0) + 1)
      if (++files <= FILES) out.push(line.startsWith('l') ? name : `${name} ${size}`)
    }
    if (files > FILES) out.push(leftOut(files - FILES, 'file'))
    if (noise.length > 0) out.push(`also: ${noise.join(' ')}`)
    if (files >= 20)
      out.push(
        [...extensions]
          .sort((a, b) => b[1] - a[1])
          .map(([name, count]) => `${name} ×${count}`)
          .join(', '),
      )
    return out
  },
}
