// Makes the drawings of docs/architecture.md from the sources and the sealed hooks, so that they are never stale.
import { readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { arrow, box, svg, text } from './svg.mjs'

const root = new URL('../', import.meta.url)
const read = (path) => readFileSync(new URL(path, root), 'utf8')
const sources = (folder) =>
  readdirSync(new URL(folder, root), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => `${folder}/${path}`)

/** Returns the part of the tree that a file belongs to in the drawing of the floors. */
function partOf(path) {
  const [top, folder] = path.split('/')
  if (top !== 'adapters') return top
  return ['node', 'cli', 'testing'].includes(folder) ? 'hosts' : 'drivers'
}

const PARTS = {
  hosts: 'adapters/node, cli, testing',
  plugins: 'plugins/*',
  drivers: 'adapters/dialects, providers, stores, transport, vault',
  core: 'pipeline, hooks, plugins, configuration',
}
const PLACES = { hosts: [300, 60], plugins: [60, 190], drivers: [540, 190], core: [300, 320] }
const [WIDTH, HEIGHT] = [360, 70]

/** Draws the floors, with an arrow for each pair where one imports the other. Without counts, because they change with every commit. */
export function floors() {
  const edges = new Set()
  for (const path of ['core', 'plugins', 'adapters'].flatMap(sources)) {
    const from = partOf(path)
    for (const [, target] of read(path).matchAll(/from '(\.[^']+)'/g)) {
      const to = partOf(posix.join(posix.dirname(path), target))
      if (to !== from) edges.add(`${from} ${to}`)
    }
  }
  const shapes = Object.entries(PLACES).flatMap(([part, [x, y]]) => [
    box(x, y, WIDTH, HEIGHT, { fill: part === 'core' ? '#dbeafe' : '#ffffff' }),
    text(x + WIDTH / 2, y + 30, part, { size: 17, weight: 600, anchor: 'middle' }),
    text(x + WIDTH / 2, y + 52, PARTS[part], { size: 12, fill: '#475569', anchor: 'middle' }),
  ])
  for (const edge of [...edges].sort()) {
    const [from, to] = edge.split(' ').map((part) => PLACES[part])
    shapes.push(arrow(...ends(from, to)))
  }
  return svg(960, 430, 'The floors of hookgate, and the imports between them', [
    text(480, 34, 'Imports point down only; test/architecture.test.ts checks it.', {
      size: 13,
      fill: '#475569',
      anchor: 'middle',
    }),
    ...shapes,
  ])
}

/** From the lower edge of one box to the upper edge of another; the long arrow passes the middle floor. */
function ends([x1, y1], [x2, y2]) {
  const lean = Math.sign(x2 - x1) * 90
  return [x1 + WIDTH / 2 + lean, y1 + HEIGHT, x2 + WIDTH / 2 - lean, y2]
}

const KINDS = {
  series: '#dbeafe',
  first: '#dcfce7',
  reduce: '#fef9c3',
  wrap: '#fae8ff',
  stream: '#ffedd5',
  observe: '#e2e8f0',
}
const MEANING = {
  series: 'each in turn',
  first: 'first answer wins',
  reduce: 'value passed on',
  wrap: 'around the next',
  stream: 'per event',
  observe: 'not awaited',
}
const STAGES = [
  ['Way in', ['ingress', 'authenticate', 'access', 'resolve', 'request', 'answer', 'admit', 'reserve']],
  ['Per request', ['candidates', 'call']],
  ['Per attempt', ['attempt', 'prepare', 'encoded']],
  ['Answer', ['stream', 'stream:batch', 'response']],
  ['End', ['settle', 'settled']],
  ['Gateway', ['ready', 'close']],
]

/**
 * Draws the hooks in the order of a request, with the preset's plugins on each.
 * @param hooks `{ [hook]: { kind } }`, the catalogue. @param handlers plugin names by hook, in sealed order.
 */
export function request(hooks, handlers) {
  const missing = Object.keys(hooks).filter((hook) => !STAGES.some(([, names]) => names.includes(hook)))
  if (missing.length > 0) throw new Error(`scripts/drawings.mjs draws no stage for the hooks ${missing.join(', ')}.`)
  const shapes = Object.entries(KINDS).flatMap(([kind, fill], index) => [
    box(150 + (index % 3) * 220, 14 + Math.floor(index / 3) * 22, 14, 14, { fill, radius: 3 }),
    text(172 + (index % 3) * 220, 26 + Math.floor(index / 3) * 22, `${kind}: ${MEANING[kind]}`, { size: 12, fill: '#475569' }),
  ])
  let y = 70
  for (const [stage, names] of STAGES) {
    const top = y
    for (const hook of names) {
      const lines = wrapped(handlers.get(hook) ?? [], 100)
      const height = Math.max(34, 16 + lines.length * 16)
      shapes.push(
        box(150, y, 130, height, { fill: KINDS[hooks[hook].kind] }),
        text(215, y + height / 2 + 5, hook, { weight: 600, anchor: 'middle' }),
      )
      for (const [index, line] of lines.entries())
        shapes.push(text(300, y + 21 + index * 16, line, { size: 12, fill: '#334155' }))
      y += height + 14
      if (hook !== names.at(-1)) shapes.push(arrow(215, y - 14, 215, y))
    }
    shapes.push(text(20, top + 22, stage, { weight: 600, fill: '#475569' }))
    shapes.push(`<line x1="20" y1="${y - 3}" x2="960" y2="${y - 3}" stroke="#cbd5e1"/>`)
    y += 12
  }
  return svg(980, y, 'The hooks that a request passes, and the plugins on each', shapes)
}

function wrapped(words, most) {
  const lines = []
  for (const word of words) {
    const line = lines.at(-1)
    if (line !== undefined && line.length + word.length + 3 <= most) lines[lines.length - 1] = `${line} → ${word}`
    else lines.push(word)
  }
  return lines.length === 0 ? ['–'] : lines
}

const CREATED = /CREATE TABLE (?:IF NOT EXISTS )?([a-z][a-z_]+)/g
const DROPPED = /DROP TABLE (?:IF EXISTS )?([a-z][a-z_]+)/g
const WRITTEN = /(INSERT(?: OR \w+)? INTO|UPDATE|DELETE FROM) ([a-z][a-z_]+)/g
const VERBS = { I: 'insert', U: 'update', D: 'delete' }

/** Draws the tables by the plugin that owns them, with the statements that write them. */
export function tables() {
  const owners = new Map()
  const verbs = new Map()
  for (const path of ['core', 'plugins', 'adapters'].flatMap(sources)) {
    if (path.startsWith('adapters/testing')) continue
    const owner = path.startsWith('plugins/') ? path.split('/')[1] : path.split('/').slice(0, 2).join('/')
    const source = read(path)
    for (const [, table] of source.matchAll(CREATED)) owners.set(table, owner)
    for (const [, table] of source.matchAll(DROPPED)) owners.delete(table)
    for (const [, verb, table] of source.matchAll(WRITTEN)) verbs.set(table, (verbs.get(table) ?? new Set()).add(VERBS[verb[0]]))
  }
  const groups = new Map()
  for (const [table, owner] of [...owners].sort()) groups.set(owner, [...(groups.get(owner) ?? []), table])
  const columns = [60, 60]
  const shapes = []
  for (const [owner, names] of [...groups].sort()) {
    const column = columns[0] <= columns[1] ? 0 : 1
    const [x, y] = [20 + column * 480, columns[column]]
    const height = 40 + names.length * 20
    shapes.push(box(x, y, 460, height), text(x + 14, y + 24, owner, { weight: 600, size: 14 }))
    for (const [index, table] of names.entries()) {
      shapes.push(text(x + 28, y + 46 + index * 20, table, { size: 12 }))
      const how = ['insert', 'update', 'delete'].filter((verb) => verbs.get(table)?.has(verb)).join(', ')
      shapes.push(text(x + 270, y + 46 + index * 20, how, { size: 11, fill: '#64748b' }))
    }
    columns[column] += height + 14
  }
  return svg(980, Math.max(...columns) + 6, 'The tables, and the plugins that write them', [
    text(490, 34, 'Each plugin creates and writes its own tables. Other plugins use its service.', {
      fill: '#475569',
      anchor: 'middle',
    }),
    ...shapes,
  ])
}
