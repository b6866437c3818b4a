// The table of intercepted hosts, and the other options of the plugin.
import { z } from 'zod'

const hostName = z
  .string()
  .max(253)
  .regex(/^(?=.*\.)[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/, 'must be a host name in lower case, such as api.openai.com')

const inferencePath = z.strictObject({
  /** A path of the vendor. One that ends in `*` is a prefix. */
  path: z.string().regex(/^\/[^?#]*$/, 'must begin with `/` and have no query'),
  /** The path of the gateway; default: the same. A `*` at its end is replaced by the rest of the vendor's path. */
  to: z
    .string()
    .regex(/^\/v1(?:beta)?\/[^?#]+$/, 'must begin with `/v1/` or `/v1beta/`')
    .optional(),
})

const interceptedHost = z.strictObject({
  host: hostName,
  /** The name that aliases of its models are kept under. */
  tool: z.string().regex(/^[a-z0-9][a-z0-9-]{0,63}$/, 'must be lower case letters, digits and `-`'),
  /** POST requests to these paths are answered by the gateway. */
  inference: z.array(inferencePath).min(1),
  /** `address:port` of the real host; default: what its name servers say, and 443. */
  address: z
    .string()
    .regex(/^(?:[\w.-]+|\[[0-9a-f:]+\]):\d{1,5}$/i, 'must be `address:port`')
    .optional(),
  /** PEM of a CA that signs the real host's certificate, beside those of Node. */
  ca: z.string().optional(),
})

export type InterceptedHost = z.output<typeof interceptedHost>

export const interceptionOptions = z.strictObject({
  enabled: z.boolean().default(false),
  port: z.int().min(0).max(65_535).default(8443),
  manageHosts: z.boolean().default(false),
  installCa: z.boolean().default(false),
  hosts: z
    .array(interceptedHost)
    .max(50)
    .refine((hosts) => new Set(hosts.map(({ host }) => host)).size === hosts.length, 'name a host once')
    .default([]),
  /** Default: that of the system. */
  hostsFile: z.string().min(1).optional(),
  /** Where the system finds CA certificates, and the command that reads them again; default: those of Debian, on Linux. */
  trustStore: z.strictObject({ folder: z.string().min(1), update: z.array(z.string()).min(1) }).optional(),
  dataDir: z.string().nullable().default(null).meta({ env: 'DATA_DIR' }),
})

export type InterceptionOptions = z.output<typeof interceptionOptions>

export const interceptionVariables = {
  MITM_ENABLED: { option: 'enabled', about: 'Start the interception proxy with the server. The local profile only.' },
  MITM_PORT: { option: 'port', about: 'Port of the interception proxy on 127.0.0.1.' },
  MITM_MANAGE_HOSTS: { option: 'manageHosts', about: 'Try to write the intercepted hosts into the hosts file.' },
  MITM_INSTALL_CA: { option: 'installCa', about: 'Try to install the CA certificate.' },
} as const
