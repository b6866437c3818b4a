// The grid role × route × method of docs/roles.md, from `x-role` of the OpenAPI document of a gateway with tenants.
const RANK = ['member', 'manage', 'owner', 'system']
/** `read`: a management token of scope `read` that an owner made. */
export const CALLERS = ['member', 'manage', 'owner', 'system', 'read', 'client_key', 'anonymous']
const HEADS = ['Member', 'Admin', 'Owner', 'System', 'Read token', 'Client key', 'Anonymous']

/** Returns yes, 401 or 403 for a caller of a control-plane route. */
export function verdict(caller, method, role) {
  if (role === 'public') return 'yes'
  if (caller === 'client_key' || caller === 'anonymous') return '401'
  if (caller === 'read' && method !== 'GET') return '403'
  return RANK.indexOf(caller === 'read' ? 'owner' : caller) >= RANK.indexOf(role) ? 'yes' : '403'
}

/** Data-plane calls need a client key, whatever the document of a gateway with one tenant says. */
function dataVerdict(caller) {
  return caller === 'client_key' ? 'yes' : '401'
}

export function roleGrid({ paths }) {
  const rows = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => {
      if (operation['x-role'] === undefined) throw new Error(`${method} ${path} has no role.`)
      const upper = method.toUpperCase()
      const cells = CALLERS.map((caller) =>
        /^\/v1(?:beta)?\//.test(path) ? dataVerdict(caller) : verdict(caller, upper, operation['x-role']),
      )
      return [`\`${upper} ${path}\``, ...cells]
    }),
  )
  const line = (cells) => `| ${cells.join(' | ')} |`
  return [line(['Route', ...HEADS]), line(['Route', ...HEADS].map(() => '---')), ...rows.map(line)].join('\n')
}
