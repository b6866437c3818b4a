// Handles one control-plane call in this order: profile → page guard → authentication → authorization → validation → handler → audit →
// answer. The body is read only after the caller is authorized.
import type { ZodType } from 'zod'
import { GatewayError } from '../errors/gateway-error.ts'
import { pathOfNul } from '../json/nul-text.ts'
import type { AuditLog, OperatorService } from '../services.ts'
import { WORDED } from '../text/issue-text.ts'
import type { Operator } from '../types/operator.ts'
import type { ApiRoute } from '../types/plugin/plugin.ts'
import type { TenantWall } from '../types/ports/db.ts'
import type { Peer } from '../types/ports/ports.ts'
import { jsonAnswer, jsonBody } from './json.ts'
import { readWithin, type Within } from './streamed.ts'

export interface ApiEnvironment {
  readonly profile: 'local' | 'cloud'
  /** Absent: only local peers may call the control plane. */
  readonly operators: OperatorService | undefined
  readonly audit: AuditLog | undefined
  /** Checks answers against their schemas, for tests. */
  readonly strict: boolean
  /** Absent: organizations are kept apart by the statements alone. */
  readonly wall?: TenantWall | undefined
}

const REASON_HEADER = 'x-audit-reason'
const MAX_REASON = 500

const RANK = { public: 0, member: 1, manage: 2, owner: 3, system: 4 } as const
const OPEN: Operator = { actor: 'local', orgId: null, role: 'system', readOnly: false, auth: 'open' }
const NOBODY: Operator = { actor: 'anonymous', orgId: null, role: 'member', readOnly: true, auth: 'open' }

export function roleOf(route: ApiRoute): NonNullable<ApiRoute['role']> {
  return route.role ?? 'system'
}

/**
 * Passes on parameters that the schema does not know, with the last value of each.
 * @throws GatewayError 400 naming a parameter that occurs more than once but takes one value.
 */
export function queryValues(schema: ZodType | undefined, given: URLSearchParams): Record<string, string | string[]> {
  const fields = fieldsOf(schema)
  return Object.fromEntries(
    [...new Set(given.keys())].map((name) => {
      const values = given.getAll(name)
      const field = Object.hasOwn(fields, name) ? fields[name] : undefined
      if (field !== undefined && innermost(field).type === 'array') return [name, values]
      if (field !== undefined && values.length > 1) throw GatewayError.invalid(name, `\`${name}\`: must be given once.`)
      return [name, values.at(-1) as string]
    }),
  )
}

/** The part of a zod schema's definition that this file uses. */
interface Definition {
  readonly type: string
  readonly innerType?: ZodType
  readonly in?: ZodType
  readonly shape?: Readonly<Record<string, ZodType>>
}

function fieldsOf(schema: ZodType | undefined): Readonly<Record<string, ZodType>> {
  return (schema === undefined ? undefined : innermost(schema).shape) ?? {}
}

/** Returns the schema inside optional, default and similar wrappers. */
function innermost(schema: ZodType): Definition {
  let definition = schema.def as unknown as Definition
  for (let inner = definition.in ?? definition.innerType; inner !== undefined; inner = definition.in ?? definition.innerType)
    definition = inner.def as unknown as Definition
  return definition
}

/** @throws GatewayError 401, 403, 404, 400, or the handler's own. */
export async function callRoute(
  route: ApiRoute,
  request: Request,
  params: Record<string, string>,
  peer: Peer,
  environment: ApiEnvironment,
): Promise<Response> {
  const url = new URL(request.url)
  if (route.profile !== undefined && route.profile !== environment.profile)
    throw GatewayError.unknownUrl(request.method, url.pathname)
  if (route.method !== 'GET') refuseOtherSites(request)
  const reason = typeof route.audit === 'string' ? reasonIn(request) : undefined
  const operator = await operatorOf(route, request, peer, environment)
  const target: { id: string | null; details: Record<string, unknown> } = { id: null, details: {} }
  let isAudited = typeof route.audit === 'string'
  const call = {
    params: pathParams(route.params, params),
    query: parsed(route.query, queryValues(route.query, url.searchParams)),
    body: route.body === undefined ? undefined : parsed(route.body, await jsonBody(request)),
    operator,
    orgId: operator.orgId,
    peer,
    request,
    audited(id: string | number, details: Record<string, unknown> = {}) {
      target.id = String(id)
      target.details = details
    },
    unaudited() {
      isAudited = false
    },
  }
  const serve = async (): Promise<unknown> => {
    const answer = await route.handler(call)
    if (!isAudited || typeof route.audit !== 'string') return answer
    await environment.audit?.append({
      orgId: operator.orgId,
      actor: operator.actor,
      action: route.audit,
      target: target.id ?? params.id ?? idOf(answer),
      details: { ...(call.body as object | undefined), ...target.details, ...(reason !== undefined && { reason }) },
      ip: peer.address,
    })
    return answer
  }
  const within = walled(route, operator, environment.wall)
  const answer = await (within === null ? serve() : within(serve))
  if (answer instanceof Response) return within === null || answer.body === null ? answer : readWithin(answer, within)
  if (environment.strict && route.response) route.response.parse(answer)
  return jsonAnswer(route.status ?? 200, answer)
}

/** Routes of the role `system` work for the whole gateway, whichever organization the caller belongs to. */
function walled(route: ApiRoute, { orgId }: Operator, wall: TenantWall | undefined): Within | null {
  if (orgId === null || wall === undefined || roleOf(route) === 'system') return null
  return (fn) => wall.within(orgId, fn)
}

async function operatorOf(route: ApiRoute, request: Request, peer: Peer, environment: ApiEnvironment): Promise<Operator> {
  const role = roleOf(route)
  if (role === 'public') return NOBODY
  const operator = await identified(request, peer, environment)
  if (operator === null) throw unidentified(environment.operators?.signInRoute)
  if (operator.readOnly && route.method !== 'GET')
    throw GatewayError.forbidden('This token may only read. Use one of scope `manage`.')
  if (RANK[operator.role] < RANK[role]) throw GatewayError.forbidden(`This needs the role \`${role}\`.`)
  return operator
}

async function identified(request: Request, peer: Peer, { operators }: ApiEnvironment): Promise<Operator | null> {
  if (peer.operator !== undefined) return peer.operator
  if (operators !== undefined) return operators.identify(request, peer)
  return peer.local === true ? OPEN : null
}

/** @param route set where each caller needs a credential, also a local one. */
function unidentified(route: string | undefined): GatewayError {
  const local = ' Without a password the control plane answers local clients only.'
  return new GatewayError(
    `Sign in first: send a session token (${route ?? 'POST /api/login'}) or a management token as \`Authorization: Bearer <token>\`.${route === undefined ? local : ''}`,
    { status: 401, type: 'authentication_error', code: 'invalid_credentials', headers: ['www-authenticate', 'Bearer'] },
  )
}

/** A page of another site can make a browser send writes. Browsers report the site in this header, and pages cannot change it. */
function refuseOtherSites(request: Request): void {
  const site = request.headers.get('sec-fetch-site')
  if (site !== null && site !== 'same-origin' && site !== 'none')
    throw GatewayError.forbidden('Writes from pages of other sites are refused.')
}

/** The caller's reason for a change, for the audit entry: percent-encoded UTF-8. @throws GatewayError 400 */
function reasonIn(request: Request): string | undefined {
  const given = request.headers.get(REASON_HEADER)
  if (given === null) return undefined
  const text = decodedPart(given)?.trim()
  if (text === undefined || text.length > MAX_REASON)
    throw GatewayError.invalid(
      REASON_HEADER,
      `\`${REASON_HEADER}\` must be percent-encoded text of at most ${MAX_REASON} characters.`,
    )
  return text === '' ? undefined : text
}

/** Decodes the parameters of a path. A path that cannot be decoded, has U+0000, or fails the schema gets 404. */
function pathParams(schema: ZodType | undefined, params: Record<string, string>): unknown {
  const decoded = Object.fromEntries(Object.entries(params).map(([name, value]) => [name, decodedPart(value)]))
  const readable = Object.values(decoded).every((value) => value !== null)
  if (schema === undefined && readable) return decoded
  const result = readable ? schema?.safeParse(decoded) : undefined
  if (result?.success === true) return result.data
  throw notFound(`There is nothing under \`${Object.values(params).join('/').slice(0, 100)}\`.`)
}

/** 404 for an id that does not exist or belongs to another caller: the two look the same. */
/** null: nothing has such a name. PostgreSQL cannot store U+0000. */
function decodedPart(text: string): string | null {
  try {
    const decoded = decodeURIComponent(text)
    return decoded.includes('\0') ? null : decoded
  } catch {
    return null
  }
}

export function notFound(message: string, param: string | null = null): GatewayError {
  return new GatewayError(message, { status: 404, type: 'invalid_request_error', code: 'not_found', param })
}

function parsed(schema: ZodType | undefined, value: unknown): unknown {
  if (schema === undefined) return value
  const result = schema.safeParse(value, { reportInput: true, ...WORDED })
  if (!result.success) throw firstIssue(result.error.issues)
  const path = pathOfNul(value)
  if (path !== null) throw firstIssue([{ code: 'custom', path, message: 'must not hold U+0000' }])
  return result.data
}

interface Issue {
  readonly code: string
  readonly path: readonly PropertyKey[]
  readonly message: string
}

/** Returns a 400 for the first issue; `param` is its dotted path. */
export function firstIssue(issues: readonly Issue[]): GatewayError {
  const issue = issues[0] as Issue & { keys?: string[] }
  const path = [...issue.path, ...(issue.code === 'unrecognized_keys' ? (issue.keys ?? []).slice(0, 1) : [])].map(String)
  const param = path.join('.').slice(0, 200) || null
  const message = issue.code === 'unrecognized_keys' ? 'There is no such field.' : issue.message
  return GatewayError.invalid(param, param === null ? message : `\`${param}\`: ${message}`)
}

function idOf(answer: unknown): string | null {
  const id = typeof answer === 'object' && answer !== null ? (answer as { id?: unknown }).id : undefined
  return typeof id === 'string' || typeof id === 'number' ? String(id) : null
}
