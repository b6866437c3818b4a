// Compares what the vendors received with what the caller sent: the same body, or every value in some other place.
import { expect } from 'vitest'
import type { RecordedRequest } from '../../../adapters/testing/script.ts'
import type { Members, OperationCase } from './requests.ts'

/** Members that the gateway itself can keep: the check of the answer proves them. */
const KEPT_IN_THE_ANSWER = new Set(['max_results', 'response_format'])

/** Returns whether the vendor got the caller's own body, except for the model's name. */
export function isSame(requests: readonly RecordedRequest[], { members, file }: OperationCase): boolean {
  const [request, ...more] = requests
  if (request === undefined || more.length > 0) return false
  const { model: _model, ...got } = file === undefined ? request.json : formFields(request.text)
  const sent =
    file === undefined ? members : Object.fromEntries(Object.entries(members).map(([name, value]) => [name, `${value}`]))
  return JSON.stringify(sorted(got)) === JSON.stringify(sorted(sent)) && (file === undefined || holdsFile(request, file))
}

/** @throws when a value of the caller is missing and no warning names its member. */
export function checkCarried(
  requests: readonly RecordedRequest[],
  { members, file }: OperationCase,
  warnings: readonly string[],
): void {
  const found = requests.flatMap(leaves)
  const calls = requests.filter(({ method }) => method === 'POST').length
  for (const [name, value] of Object.entries(members)) {
    if (KEPT_IN_THE_ANSWER.has(name) || warnings.includes(`dropped_${name}`)) continue
    for (const leaf of leavesOf(value))
      expect(isCarried(name, leaf, found, calls), `\`${name}\` is lost without a warning`).toBe(true)
  }
  if (file !== undefined) expect(requests.some((request) => holdsFile(request, file))).toBe(true)
}

function isCarried(name: string, leaf: string, found: readonly string[], calls: number): boolean {
  // A vendor that makes one image a call is called twice.
  if (name === 'n' && calls === Number(leaf)) return true
  if (name === 'size' && (found.includes('1:1') || found.filter((one) => one === '1024').length >= 2)) return true
  // The kind of a vendor's document is in the name of its member.
  if (leaf === 'document_url') return true
  return found.some((one) => one === leaf || (!/^[\d.]+$/.test(leaf) && one.includes(leaf)))
}

/** Returns every value of a request: of its body, its query and its path. */
function leaves({ path, json, text }: RecordedRequest): string[] {
  const url = new URL(path, 'http://vendor')
  return [
    ...leavesOf(json),
    ...Object.values(formFields(text)),
    ...url.searchParams.values(),
    ...url.pathname.split('/').map(decodeURIComponent),
  ]
}

function leavesOf(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [String(value)]
  return Object.values(value).flatMap(leavesOf)
}

function formFields(text: string): Record<string, string> {
  const fields = text.matchAll(/form-data; name="([^"]+)"\r\n\r\n([^\r]*)\r\n/g)
  return Object.fromEntries([...fields].map(([, name, value]) => [name, value]))
}

function holdsFile({ text }: RecordedRequest, { content }: { content: string }): boolean {
  return text.includes(content)
}

function sorted(members: Members): [string, unknown][] {
  return Object.entries(members).sort(([one], [other]) => (one < other ? -1 : 1))
}
