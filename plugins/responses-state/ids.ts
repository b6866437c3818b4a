// Ids of stored responses and their output items. Each carries a MAC, so that a forged id costs no query. An item's id contains the token of
// its response.
import { randomId } from '../../core/ids/ids.ts'
import { sameDigest } from '../../core/ids/same-digest.ts'
import type { Clock, Vault } from '../../core/types/ports/ports.ts'

const TOKEN = 20
/** Milliseconds in base 36, until the year 5188. */
const TIME = 9
const PLACE = 3
const MAC = 24
const BASE = 36
/** Kind of id, mark, token, place, MAC. */
const ID = new RegExp(`^([a-z]{1,8})_gw([A-Za-z0-9]{${TOKEN}})([0-9a-z]{${PLACE}})([0-9a-f]{${MAC}})$`)
/** An id of one kind is no id of another. Items of answers have no domain. */
const DOMAINS: Readonly<Record<string, string>> = { resp: 'r', conv: 'c' }
/** In the body of a request that names one. */
export const MARK = '_gw'
/** More items of one answer get no id of ours. */
export const MAX_PLACE = BASE ** PLACE - 1

export interface Place {
  readonly token: string
  /** `resp`, `conv`, or that of an item: `msg`, `fc`, `rs` … */
  readonly kind: string
  /** Index of the item in the output; 0 for a response or a conversation. */
  readonly index: number
}

export interface Ids {
  /** Begins with the time, so that a new row is the last of its index: a random place takes 7 µs longer. */
  token(): string
  response(token: string): string
  conversation(token: string): string
  /** `prefix`: `msg_`, `fc_`, `rs_` … */
  item(prefix: string, token: string, index: number): string
  /** For an item of the request: a place in the list, and no reference to the output. */
  input(prefix: string, token: string, index: number): string
  /** Returns null for an id that is not ours, was forged, or names an item of a request. */
  read(id: string): Place | null
  /** Returns whether the text has the form of our ids. */
  isOurs(id: string): boolean
}

export function idsOf(vault: Pick<Vault, 'mac'>, clock: Pick<Clock, 'now'>): Ids {
  const mac = (body: string): string => vault.mac('responses-state', body).slice(0, MAC)
  const make = (prefix: string, token: string, place: number, domain = ''): string => {
    const body = token + place.toString(BASE).padStart(PLACE, '0')
    return `${prefix}gw${body}${mac(domain + body)}`
  }
  return {
    token: () => randomId(clock.now().toString(BASE).padStart(TIME, '0').slice(-TIME), TOKEN - TIME),
    response: (token) => make('resp_', token, 0, DOMAINS.resp),
    conversation: (token) => make('conv_', token, 0, DOMAINS.conv),
    item: (prefix, token, index) => make(prefix, token, index),
    input: (prefix, token, index) => make(prefix, token, index, 'i'),
    isOurs: (id) => ID.test(id),
    read(id) {
      const [, kind = '', token = '', place = '', given = ''] = ID.exec(id) ?? []
      if (token === '') return null
      const body = token + place
      if (!sameDigest(given, mac((DOMAINS[kind] ?? '') + body))) return null
      return { kind, token, index: Number.parseInt(place, BASE) }
    },
  }
}
