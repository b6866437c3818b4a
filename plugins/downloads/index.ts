// Serves release files of the command line under /dl/: from a folder, or as a redirect to another server.
import { z } from 'zod'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { definePlugin } from '../../core/plugins/define.ts'
import { fileAnswer } from './files.ts'
import { namesOf } from './path.ts'

const PREFIX = '/dl/'

export const downloads = definePlugin({
  name: 'downloads',
  config: z.strictObject({
    /** A folder with release files; `npm run release` makes one. */
    dir: z.string().min(1).optional(),
    /** Requests are redirected to this address, with the rest of their path. It overrides `dir`. */
    baseUrl: z
      .url({ protocol: /^https?$/ })
      .refine((text) => !/[?#]/.test(text), 'must have no query and no fragment')
      .optional(),
  }),
  variables: {
    DIST_DIR: { option: 'dir', about: 'A folder with release files, for /dl/*.' },
    DIST_BASE_URL: { option: 'baseUrl', about: 'Redirect base for /dl/*. It overrides GATEWAY_DIST_DIR.' },
  },
  setup(gateway, { dir, baseUrl }) {
    const base = baseUrl?.replace(/\/+$/, '')
    const answer = async (request: Request): Promise<Response> => {
      const { pathname, search } = new URL(request.url)
      const rest = pathname.slice(PREFIX.length)
      const names = namesOf(rest === '' ? 'index.json' : rest)
      if (names !== null && base !== undefined)
        return new Response(null, { status: 302, headers: { location: `${base}/${rest}${search}` } })
      const found = names === null || dir === undefined ? null : await fileAnswer(dir, names, request)
      if (found === null) throw GatewayError.unknownUrl(request.method, pathname)
      return found
    }
    gateway.api({
      method: 'GET',
      path: '/dl/**',
      summary: 'A release file: from GATEWAY_DIST_DIR, or a redirect to GATEWAY_DIST_BASE_URL.',
      role: 'public',
      responses: { 206: z.unknown(), 302: z.unknown(), 304: z.unknown(), 416: z.unknown() },
      handler: ({ request }) => answer(request),
    })
  },
})

export default downloads
