// Facts of an embedding server about a request, and the parts that it serves.

/** Members of the host's own, such as its user; widened with `declare module 'hookgate/core'`. Plugins read it as `ctx.host`. */
// biome-ignore lint/suspicious/noEmptyInterface: widened by hosts
export interface HostContext {}

/** False: the paths are 404. Default true. */
export interface ServedParts {
  /** `/metrics` */
  metrics?: boolean
  /** `/healthz`, `/health/…`, `/` and `/api/hello` */
  health?: boolean
  /** `/api/…` */
  api?: boolean
}
