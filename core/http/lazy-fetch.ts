// ofetch, loaded with the first call: it needs the web objects of the runtime, which the data plane does without.
import type { $Fetch, FetchOptions } from 'ofetch'

/** Returns a fetcher with the same members. `fetch` undefined: the global one. */
export function lazyFetch(fetch: typeof globalThis.fetch | undefined): $Fetch {
  let loading: Promise<$Fetch> | undefined
  return fetcher(() => {
    loading ??= import('ofetch').then(({ $fetch, createFetch }) => (fetch === undefined ? $fetch : createFetch({ fetch })))
    return loading
  })
}

function fetcher(loaded: () => Promise<$Fetch>): $Fetch {
  const call = async (request: string, options?: FetchOptions) => (await loaded())(request, options)
  return Object.assign(call, {
    raw: async (request: string, options?: FetchOptions) => (await loaded()).raw(request, options),
    native: async (...call: Parameters<typeof globalThis.fetch>) => (await loaded()).native(...call),
    create: (defaults: FetchOptions, own?: Parameters<$Fetch['create']>[1]) =>
      fetcher(async () => (await loaded()).create(defaults, own)),
  }) as $Fetch
}
