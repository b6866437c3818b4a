// A logged request as the API lists it, with the members that are printed.
export interface LogRow {
  readonly request_id: string
  readonly created_at: string
  readonly source: string
  readonly endpoint: string | null
  readonly provider: string | null
  readonly model: string | null
  readonly virtual_model: string | null
  readonly requested_model: string
  readonly api_key_label: string | null
  readonly status: number
  readonly latency_ms: number
  readonly ttft_ms: number | null
  readonly tokens: { readonly prompt: number; readonly completion: number }
  readonly cost_usd: number | null
  readonly attempts: number
  readonly cached: boolean
  readonly error_code: string | null
}

export interface Page {
  readonly data: readonly LogRow[]
  readonly next_cursor: string | null
}
