// Types of the facts that an embedding server passes with a request, and of the parts that it serves.

/** The host's own members, such as its user; widened with `declare module 'hookgate/core'`. Plugins read it as `ctx.host`. */
// biome-ignore lint/suspicious/noEmptyInterface: widened by hosts
export interface HostContext {}

/** Parts of the control plane. False: its paths answer 404. Default true. */
export interface ServedParts {
  /** `/metrics` */
  metrics?: boolean
  /** `/healthz`, `/health/…`, `/` and `/api/hello` */
  health?: boolean
  /** `/api/…` */
  api?: boolean
  /** Pages: what no route has, and `/` for browsers. */
  dashboard?: boolean
}

/** Where and how much of the control plane a host serves. */
export interface ControlPlace {
  /** The path under which the host mounts the gateway; default ''. */
  readonly mount?: string
  /** False: no pages; default true. */
  readonly pages?: boolean
}
