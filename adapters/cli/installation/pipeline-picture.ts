// Draws the sealed pipeline as text: the hooks of each stage in a row, and below each hook its plugins in the order in which they run.
import type { HostedGateway } from '../../../core/gateway.ts'
import { sign } from '../output/symbols.ts'
import { printable, styled } from '../output/table.ts'

type Sealed = HostedGateway['hooks'][number]

interface Stage {
  readonly title: string
  readonly about: string
  /** Hooks, and in capitals or parentheses what the gateway does itself. */
  readonly steps: readonly string[]
  readonly framed?: true
}

const STAGES: readonly Stage[] = [
  { title: 'Before routing', about: 'who calls, and may they', steps: ['ingress', 'authenticate', 'access', 'resolve'] },
  {
    title: 'Before the call',
    about: 'the request and its limits; an answer skips the call',
    steps: ['request', 'answer', 'admit', 'reserve', 'candidates', 'call'],
  },
  {
    title: 'Each attempt',
    about: 'once per try',
    steps: ['attempt', 'prepare', '(encode)', 'encoded', 'TRANSPORT', '(decode)', 'stream', 'stream:batch', 'response'],
    framed: true,
  },
  { title: 'After the answer', about: 'money, log, events', steps: ['(encode for the caller)', 'settle', 'settled'] },
  { title: 'Process', about: 'start and end', steps: ['ready', 'close'] },
]

/** @param own plugins that are not hookgate's. @param columns width of the terminal. */
export function pipelinePicture(sealed: readonly Sealed[], own: ReadonlySet<string>, columns: number): string {
  const byHook = new Map(sealed.map((one) => [one.hook as string, one]))
  const drawn = STAGES.map((stage) => drawnStage(stage, byHook, own, columns)).join('\n\n')
  const star = sign('★', '*')
  const marks = [
    ...(drawn.includes(star) ? [`${star} your own plugin`] : []),
    '? runs for some requests only',
    '~ the request goes on when it fails',
    `${sign('×', 'x')}2 runs twice`,
  ].join('   ')
  return `${drawn}\n\n${styled(marks, 'dim')}`
}

function drawnStage(
  { title, about, steps, framed }: Stage,
  byHook: ReadonlyMap<string, Sealed>,
  own: ReadonlySet<string>,
  columns: number,
): string {
  const [top, side, bottom] = framed ? [sign('┏ ', '+ '), sign('┃ ', '| '), sign('┗', '+')] : ['', '  ', '']
  const blocks = steps.map((step) => ({ step, names: namesAt(byHook.get(step), own) }))
  const strips = inStrips(blocks, columns - side.length).flatMap((strip, at) => linesOf(strip, at > 0))
  return [
    `${top}${styled(title, 'bold')}  ${styled(about, 'dim')}`,
    ...strips.map((line) => `${side}${line}`.trimEnd()),
    ...(framed ? [bottom] : []),
  ].join('\n')
}

interface Block {
  readonly step: string
  readonly names: readonly string[]
}

const widthOf = ({ step, names }: Block): number => Math.max(step.length, ...names.map((name) => name.length))
const ARROW = 3

/** Begins a new strip where the next hook does not fit beside the others. */
function inStrips(blocks: readonly Block[], columns: number): Block[][] {
  const strips: Block[][] = [[]]
  let used = 0
  for (const block of blocks) {
    const strip = strips.at(-1) as Block[]
    if (strip.length > 0 && used + ARROW + widthOf(block) > columns) {
      strips.push([block])
      used = ARROW + widthOf(block)
      continue
    }
    strip.push(block)
    used += ARROW + widthOf(block)
  }
  return strips
}

function linesOf(strip: readonly Block[], continues: boolean): string[] {
  const arrow = sign('▸', '>')
  const height = Math.max(...strip.map(({ names }) => names.length))
  const lead = continues ? 2 : 0
  const row = (cell: (block: Block) => string, dress: (text: string, block: Block) => string, between: string, first: string) =>
    first.padEnd(lead) +
    strip
      .map((block, at) => {
        const text = cell(block)
        return dress(text, block) + (at === strip.length - 1 ? '' : ' '.repeat(widthOf(block) - text.length) + between)
      })
      .join('')
  return [
    row(
      ({ step }) => step,
      (text, { names }) => styled(text, names.length > 0 ? 'cyan' : 'dim'),
      ` ${arrow} `,
      continues ? arrow : '',
    ),
    ...Array.from({ length: height }, (_, at) =>
      row(
        ({ names }) => names[at] ?? '',
        (text) => text,
        '   ',
        '',
      ),
    ),
  ]
}

/** Neighbours that are the same plugin become one. */
function namesAt(sealed: Sealed | undefined, own: ReadonlySet<string>): string[] {
  const folded: { text: string; times: number }[] = []
  for (const { plugin, conditional, onError } of sealed?.handlers ?? []) {
    const marks = `${own.has(plugin) ? sign('★', '*') : ''}${conditional ? '?' : ''}${onError === 'open' ? '~' : ''}`
    const text = `${printable(plugin)}${marks === '' ? '' : ` ${marks}`}`
    const last = folded.at(-1)
    if (last?.text === text) last.times++
    else folded.push({ text, times: 1 })
  }
  return folded.map(({ text, times }) => (times > 1 ? `${text} ${sign('×', 'x')}${times}` : text))
}
