// The fourth step of `hookgate init`: a request with the client key. A connection that is not kept yet is in memory only.
import type { ControlPlane } from '../control-plane/control-plane.ts'
import { usd } from '../output/figures.ts'
import { type FirstRequest, firstRequest } from './first-request.ts'
import type { ClientKey } from './key-step.ts'
import type { Connected } from './provider-step.ts'
import { inMemory } from './trial.ts'

/** Returns null when no connection is usable. @param asked the model that the command line names. */
export async function request(
  plane: ControlPlane,
  connected: Connected | null,
  key: ClientKey | null,
  asked: string | undefined,
): Promise<FirstRequest | null> {
  if (connected === null || (await isKept(plane, connected))) return sent(plane, connected, key, asked)
  const { draft } = connected
  const keys = key?.key === undefined ? {} : { keys: { first: { label: key.label, secret: key.key } } }
  return inMemory({ connections: { [draft.label]: draft }, ...keys }, (trial) => sent(trial, connected, key, asked))
}

async function isKept({ call }: Pick<ControlPlane, 'call'>, { draft }: Connected): Promise<boolean> {
  const { data } = await call<{ data: { provider: string; label: string }[] }>('GET', '/api/providers')
  return data.some(({ provider, label }) => provider === draft.provider && label === draft.label)
}

async function sent(
  plane: ControlPlane,
  connected: Connected | null,
  key: ClientKey | null,
  asked: string | undefined,
): Promise<FirstRequest | null> {
  const model = await modelFor(plane, connected, asked)
  return model === null ? null : firstRequest(plane, model, key?.key ?? null)
}

async function modelFor({ call }: ControlPlane, connected: Connected | null, asked: string | undefined): Promise<string | null> {
  const model = asked ?? connected?.test?.model
  if (connected !== null && model) return `${connected.draft.provider}/${model}`
  const { data } = await call<{ data: { id: string }[] }>('GET', '/api/models')
  return data[0]?.id ?? null
}

export function requestWords({ status, model, answer, tokens, cost_usd }: FirstRequest): string {
  const short = answer.length > 60 ? `${answer.slice(0, 60)}…` : answer
  if (status >= 400) return `${model} ${status}: ${short}`
  const bill = tokens === null ? '' : ` · ${tokens.prompt}+${tokens.completion} tokens · ${usd(cost_usd)}`
  return `${model} ${status} “${short}”${bill}`
}
