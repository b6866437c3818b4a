// Runs one cell: one session of one client through a listening gateway, over one upstream.
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createTestGateway } from '../../dist/adapters/testing/index.js'
import { scriptedModel } from './model.mjs'

/**
 * @returns { ok, limit, failures, notes, stdout, stderr, answers, requests }; `failures` is empty after a correct session; `limit` is set
 * when docs/clients.md explains the only cause
 */
export async function runCell(client, place, upstream, limitMs) {
  const root = mkdtempSync(join(tmpdir(), 'hookgate-client-'))
  const home = join(root, 'home')
  const work = join(root, 'work')
  for (const dir of [home, work]) mkdirSync(dir)
  const words = ['one.txt', 'two.txt'].map((file) => {
    const word = `HG-${randomBytes(4).toString('hex')}`
    writeFileSync(join(work, file), `The word is ${word}.\n`)
    return word
  })
  const paths = ['one.txt', 'two.txt'].map((file) => join(work, file))
  const tool = (name, turn) => client.tool(name, turn, paths)
  const final = ([one, two]) => `Session over. First ${one}, then ${two}.`
  const model = scriptedModel({ tool, finalOf: final })
  const { GATEWAY_RESPONSES_STATE: state } = process.env
  const gateway = await createTestGateway({ upstream: [model.step], env: state === undefined ? {} : { RESPONSES_STATE: state } })
  const { url, server } = await gateway.listen()
  const answers = []
  server.prependListener('request', (req, res) => {
    const { method, url: path } = req
    res.once('close', () => answers.push({ method, path, status: res.writableFinished ? res.statusCode : 0 }))
  })
  try {
    const prompt = 'Read one.txt and then two.txt in this folder, and tell me the words in them.'
    const { argv, env } = client.start({ url, model: `${upstream}/m`, home, work, place, bin: place.bin, prompt })
    const ended = await runProcess(argv, { cwd: work, env: { ...cleanEnv(home, root), ...env }, limitMs })
    const failures = judge({ ended, words, final: final(words), model, answers, settled: gateway.settled, socket: client.socket })
    const notes = answers.filter(({ status, method }) => method !== 'POST' && status >= 400).map(shown)
    const requests = gateway.upstream.requests.map(({ path, text }) => ({ path, text }))
    const limit = client.limit !== undefined && failures.some((failure) => client.limit.test(failure))
    return { ok: failures.length === 0, limit, failures, notes: [...new Set(notes)], ...ended, answers, requests }
  } finally {
    await gateway.close()
    rmSync(root, { recursive: true, force: true, maxRetries: 5 })
  }
}

function judge({ ended, words, final, model, answers, settled, socket }) {
  const failed = answers.filter(({ status, method }) => method === 'POST' && (status >= 400 || status === 0)).map(shown)
  const errors = settled.flatMap(({ outcome }) => (outcome.error ? [`${outcome.error.code}: ${outcome.error.message}`] : []))
  const { seen } = model
  const results = words.every((word, turn) => seen.words[turn] === word)
  const posted = socket === true && answers.some(({ method }) => method === 'POST')
  return [
    ...(posted ? ['the client left its WebSocket and posted a request'] : []),
    ...(ended.hung ? ['the client did not end in time'] : ended.code === 0 ? [] : [`the client ended with ${ended.code}`]),
    ...new Set(failed),
    ...new Set(errors),
    ...(results ? [] : [`the upstream saw ${seen.turns} of 3 turns and the results ${JSON.stringify(seen.words)}`]),
    ...(ended.stdout.replace(/\s+/g, ' ').includes(final) ? [] : ['the client did not print the final text']),
  ]
}

function shown({ method, path, status }) {
  return `${status === 0 ? 'broken off' : status} ${method} ${path.split('?')[0]}`
}

/** No key, proxy or setting of this machine reaches a client. */
function cleanEnv(home, root) {
  const { PATH, LANG } = process.env
  return {
    ...{ PATH, LANG: LANG ?? 'C.UTF-8', HOME: home, TMPDIR: root, TERM: 'dumb', NO_COLOR: '1', CI: '1', DO_NOT_TRACK: '1' },
    ...{ XDG_CONFIG_HOME: `${home}/.config`, XDG_DATA_HOME: `${home}/.data`, XDG_CACHE_HOME: `${home}/.cache` },
  }
}

/** Runs in its own process group, so that its children end with it. */
function runProcess(argv, { cwd, env, limitMs }) {
  const child = spawn(argv[0], argv.slice(1), { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
  let stdout = ''
  let stderr = ''
  let hung = false
  child.stdout.on('data', (chunk) => {
    stdout += chunk
  })
  child.stderr.on('data', (chunk) => {
    stderr += chunk
  })
  const endGroup = () => {
    try {
      process.kill(-child.pid, 'SIGKILL')
    } catch {
      // It has ended already.
    }
  }
  const timer = setTimeout(() => {
    hung = true
    endGroup()
  }, limitMs)
  return new Promise((resolve) => {
    child.on('error', (error) => {
      clearTimeout(timer)
      resolve({ code: null, hung, stdout, stderr: String(error) })
    })
    child.on('exit', endGroup)
    child.on('close', (code) => {
      clearTimeout(timer)
      resolve({ code, hung, stdout, stderr })
    })
  })
}
