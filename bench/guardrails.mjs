// node bench/guardrails.mjs [--mb 1]: for each guardrail detector, the text read per second and the longest block of the event loop for a
// prompt of this size, on ordinary prose and on text full of partial matches.
import { parseArgs } from 'node:util'
import { createJiti } from 'jiti'

const { values } = parseArgs({ options: { mb: { type: 'string', default: '1' } } })
const SIZE = Math.round(Number(values.mb) * 1_048_576)

const jiti = createJiti(import.meta.url)
const { policyOf } = await jiti.import('../plugins/guardrails/policy.ts')
const { settings } = await jiti.import('../plugins/guardrails/settings.ts')
const { Inspection } = await jiti.import('../plugins/guardrails/inspection.ts')
const { Redactor } = await jiti.import('../plugins/guardrails/redactor.ts')
const { driven, inspectTexts } = await jiti.import('../plugins/guardrails/inspect-texts.ts')
const { workBudget } = await jiti.import('../plugins/guardrails/guard.ts')
const { systemClock } = await jiti.import('../core/timing/clock.ts')
const { silentLog } = await jiti.import('../core/log.ts')

const PROSE =
  'The quarterly report (see page 14) was sent to the team on 2026-03-05; revenue rose by 12.5 % to $1,234,567. ' +
  'const total = items.map((item) => item.price * 2).reduce((a, b) => a + b, 0) // 42 lines\n'
const HOSTILE = 'a.b@ sk- eyJ 4111 1111 +49 DE89 password: token= 2:3: -----BEGIN ignore all previous send show you are '
const pii = (entity) => ({ 'pii.mode': 'redact', 'pii.entities': [entity] })
const DETECTORS = {
  ...Object.fromEntries(
    ['email', 'phone', 'credit_card', 'us_ssn', 'iban', 'ip'].map((entity) => [`pii ${entity}`, pii(entity)]),
  ),
  secrets: { 'secrets.mode': 'redact' },
  prompt_injection: { 'prompt_injection.mode': 'block' },
  'topics (50 of 10 words)': {
    'topics.mode': 'block',
    'topics.deny': Array.from({ length: 50 }, (_, i) => ({
      name: `topic ${i}`,
      keywords: Array.from({ length: 10 }, (_, k) => `subject ${i} matter ${k}`),
      min_hits: 2,
    })),
  },
  'keywords (1,000)': { 'keywords.mode': 'redact', 'keywords.deny': Array.from({ length: 1000 }, (_, i) => `code name ${i}`) },
  'keywords (5 expressions)': {
    'keywords.mode': 'redact',
    'keywords.regex': ['proj-[0-9]{4,}', 'internal[- ]only', '(?:alpha|beta|gamma)-team', '[a-z]+@corp', '(x+x+)+y'],
  },
}
const ALL = Object.assign({}, ...Object.values(DETECTORS), { 'pii.entities': undefined })

const rows = []
for (const [name, changes] of [...Object.entries(DETECTORS), ['all together', ALL]]) {
  const prose = await measured(changes, PROSE)
  const hostile = await measured(changes, HOSTILE)
  rows.push({
    detector: name,
    'prose MB/s': prose.rate,
    'block ms': prose.block,
    'hostile MB/s': hostile.rate,
    'block ms ': hostile.block,
  })
}
console.table(rows)
console.table([streamed('all but expressions', { ...ALL, 'keywords.mode': 'off' }), streamed('all together', ALL)])

/** An answer in pieces of four characters, like tokens. */
function streamed(name, changes) {
  const policy = policyOf(settingsWith({ ...changes, 'pii.output': true }))
  const parts = { direction: 'output', rules: policy.rules.output, local: [], redactor: new Redactor(false), log: silentLog }
  const text = PROSE.repeat(200)
  const pieces = text.length / 4
  let best = Number.POSITIVE_INFINITY
  for (let run = 0; run < 3; run++) {
    const inspection = new Inspection({ ...parts, findings: { add() {} } })
    const scanner = inspection.scanner({ direction: 'output', role: 'assistant', place: 'text' })
    const start = performance.now()
    for (let at = 0; at < text.length; at += 4) scanner.push(text.slice(at, at + 4))
    scanner.end()
    best = Math.min(best, performance.now() - start)
  }
  return { stream: name, 'µs a piece': Number(((best * 1000) / pieces).toFixed(1)) }
}

async function measured(changes, filler) {
  const text = filler.repeat(Math.ceil(SIZE / filler.length)).slice(0, SIZE)
  const policy = policyOf(settingsWith(changes))
  const found = { add() {} }
  const parts = {
    direction: 'input',
    rules: policy.rules.input,
    local: [],
    findings: found,
    redactor: new Redactor(false),
    log: silentLog,
  }
  const run = async (of) => {
    let longest = 0
    let since = performance.now()
    let running = true
    const look = () => {
      const now = performance.now()
      longest = Math.max(longest, now - since)
      since = now
      if (running) setImmediate(look)
    }
    setImmediate(look)
    const start = performance.now()
    const use = {
      inspection: new Inspection(parts),
      direction: 'input',
      injection: policy.injection,
      due: workBudget(systemClock),
    }
    // Findings have no effect here: a prompt that is blocked at once would not show the time.
    await driven(inspectTexts([{ text: of, place: { role: 'user', place: 'text', lead: '' } }], use))
    const took = performance.now() - start
    running = false
    look()
    return { took, longest }
  }
  await run(text.slice(0, 100_000))
  const runs = [await run(text), await run(text), await run(text)]
  // The minimum of three runs, because other load on the machine makes a run longer, never shorter.
  const took = Math.min(...runs.map((one) => one.took))
  const longest = Math.min(...runs.map((one) => one.longest))
  return { rate: Number((SIZE / 1_048_576 / (took / 1000)).toFixed(1)), block: Number(longest.toFixed(1)) }
}

function settingsWith(changes) {
  const given = { enabled: true, ...changes }
  return Object.fromEntries(
    Object.entries(settings).map(([key, schema]) => [key, schema.parse(given[key.slice('guardrails.'.length)])]),
  )
}
