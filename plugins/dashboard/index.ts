// Serves the dashboard: pages for browsers beside the control plane. Its files come from a folder that `npm run build` makes.
import { z } from 'zod'
import { definePlugin } from '../../core/plugins/define.ts'
import type { SiteRequest } from '../../core/types/ports/site.ts'
import { readAssets } from './assets.ts'
import { encodingFor } from './encoding.ts'
import { documentHeaders, fileHeaders, frameHeaders } from './headers.ts'
import { BUILD_FIRST, missingPage } from './missing-page.ts'
import { readPages } from './page-files.ts'
import { readOnce } from './read-once.ts'

/** Files of plugins' own pages. */
const PAGES = '/plugin-pages/'

export const dashboard = definePlugin({
  name: 'dashboard',
  config: z.strictObject({
    /** A folder with a built dashboard; default: the one of this package. */
    dir: z.string().min(1).optional(),
    /** Shows the pages of plugins. Default: false in the cloud profile, where tenants did not choose the plugins; else true. */
    pluginPages: z.boolean().optional(),
    profile: z.string().default('local').meta({ env: 'PROFILE' }),
    /** The pages are sent with HSTS where this address is https. */
    publicUrl: z.string().nullable().default(null).meta({ env: 'PUBLIC_URL' }),
  }),
  variables: {
    DASHBOARD_PLUGIN_PAGES: {
      option: 'pluginPages',
      about: 'Shows the pages of plugins in the dashboard. Default: true, and false in the cloud profile.',
    },
    DASHBOARD_DIR: { option: 'dir', about: 'A folder with a built dashboard. Default: the dashboard of the package.' },
  },
  requires: ['plugins'],
  setup(gateway, { dir, publicUrl, profile, pluginPages = profile !== 'cloud' }) {
    const plugins = gateway.use('plugins')
    const secure = publicUrl?.startsWith('https://') === true
    // Read when a browser comes, because most processes never serve one.
    const assets = readOnce(() => readAssets(dir))
    const pages = readOnce(() => readPages(plugins.list()))
    // A reload may bring other plugins.
    const pageFiles = () =>
      pages(
        plugins
          .list()
          .map(({ name, generation }) => `${name} ${generation}`)
          .join(),
      )
    if (pluginPages) gateway.hook('ready', async () => void (await pageFiles()))

    gateway.provide('site', {
      async answer(request) {
        if (request.path.startsWith(PAGES)) {
          const file = pluginPages ? (await pageFiles())?.get(request.path.slice(PAGES.length)) : undefined
          return file === undefined ? null : new Response(file.bytes, { headers: frameHeaders(file.type) })
        }
        const page = !lastPart(request.path).includes('.') && acceptsHtml(request)
        const file = request.path.startsWith('/assets/')
        if (!page && !file && !request.path.startsWith('/favicon')) return null
        const found = await assets()
        if (found === null) {
          if (!page) return null
          gateway.log.warn('dashboard.missing', { hint: BUILD_FIRST })
          return new Response(missingPage(), { status: 503, headers: documentHeaders(secure) })
        }
        if (page) return new Response(found.document(request.mount, pluginPages), { headers: documentHeaders(secure) })
        const asset = found.file(request.path.slice(1))
        if (asset === undefined) return null
        const { encoding, bytes } = encodingFor(request.headers.get('accept-encoding'), asset)
        return new Response(bytes, { headers: fileHeaders(asset.type, encoding) })
      },
    })
  },
})

function acceptsHtml({ headers }: SiteRequest): boolean {
  return headers.get('accept')?.includes('text/html') === true
}

function lastPart(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

export default dashboard
