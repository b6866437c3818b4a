// Sends requests at a steady rate in the four dialects, streamed and not, with new users and sessions; some callers leave early.
import { Pool } from 'undici'

const MODELS = ['chat/m', 'messages/m', 'responses/m', 'generate_content/m', 'soak-failover', 'soak-balance', 'soak-fastest']
const ASK = 'Ask heron@example.org about the birds of the reed bed, then say what you know of them. '

const CALLS = {
  chat: (model, prompt, stream) => ['/v1/chat/completions', { model, stream, messages: [{ role: 'user', content: prompt }] }],
  messages: (model, prompt, stream) => [
    '/v1/messages',
    { model, stream, max_tokens: 200, messages: [{ role: 'user', content: prompt }] },
  ],
  responses: (model, prompt, stream) => ['/v1/responses', { model, stream, input: prompt }],
  // Does not accept virtual models.
  generate_content: (model, prompt, stream) => [
    `/v1beta/models/${model.includes('/') ? model : 'chat/m'}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    { contents: [{ role: 'user', parts: [{ text: prompt }] }] },
  ],
}
const DIALECTS = Object.keys(CALLS)

/** `figures`: counts of sent requests, early leavers and statuses. `over()` ends it; resolves when the last request has ended. */
export async function load({ url, keys, random, perSecond, aborted, over, figures }) {
  const pool = new Pool(url, { connections: 256, headersTimeout: 0, bodyTimeout: 0 })
  const running = new Set()
  const began = performance.now()
  while (!over()) {
    const due = ((performance.now() - began) / 1000) * perSecond
    for (; figures.requests < due; figures.requests++) {
      const call = one(pool, { keys, random, aborted, figures, n: figures.requests }).finally(() => running.delete(call))
      running.add(call)
    }
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  await Promise.all(running)
  await pool.close()
}

async function one(pool, { keys, random, aborted, figures, n }) {
  const oneOf = (list) => list[Math.floor(random() * list.length)]
  const [path, body] = CALLS[oneOf(DIALECTS)](
    oneOf(MODELS),
    `${ASK.repeat(1 + Math.floor(random() * 20))}(${n % 50})`,
    random() < 0.5,
  )
  const leaving = random() < aborted ? new AbortController() : null
  const timer = leaving && setTimeout(() => leaving.abort(), random() * 60)
  try {
    const answer = await pool.request({
      path,
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${oneOf(keys)}`,
        'x-gateway-session-id': `session-${Math.floor(n / 3)}`,
        'x-gateway-user-id': `user-${Math.floor(n / 20)}`,
      },
      body: JSON.stringify(body),
      signal: leaving?.signal,
    })
    await answer.body.dump({ limit: 1 << 24 })
    figures.statuses[answer.statusCode] = (figures.statuses[answer.statusCode] ?? 0) + 1
  } catch (error) {
    if (leaving?.signal.aborted) figures.left++
    else figures.broken[error.code ?? error.name] = (figures.broken[error.code ?? error.name] ?? 0) + 1
  } finally {
    clearTimeout(timer)
  }
}
