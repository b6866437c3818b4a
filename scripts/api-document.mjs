// The part of the OpenAPI document that the client and the dashboard use, and its hash.
import { createHash } from 'node:crypto'

/** Reads the document of a gateway with tenants, which no local caller may do without a credential. */
export const READER = {
  address: null,
  local: true,
  secure: false,
  operator: { actor: 'docs', orgId: null, role: 'system', readOnly: true, auth: 'host' },
}

/** Leaves out the data plane, and every schema that no remaining route names. */
export function controlPlaneOf(document) {
  const paths = Object.fromEntries(Object.entries(document.paths).filter(([path]) => /^\/(?:api\/|health)/.test(path)))
  const named = new Set()
  const visit = (value) => {
    if (typeof value !== 'object' || value === null) return
    for (const [key, inner] of Object.entries(value)) {
      if (key === '$ref' && !named.has(inner)) {
        named.add(inner)
        visit(componentOf(document, inner))
      } else visit(inner)
    }
  }
  visit(paths)
  const components = {}
  for (const ref of [...named].sort()) {
    const [, , kind, name] = ref.split('/')
    components[kind] = { ...components[kind], [name]: componentOf(document, ref) }
  }
  return { openapi: document.openapi, info: { title: 'hookgate', version: '' }, paths, components }
}

export function hashOf(document) {
  return createHash('sha256')
    .update(JSON.stringify(controlPlaneOf(document)))
    .digest('hex')
}

function componentOf(document, ref) {
  const [, , kind, name] = ref.split('/')
  return document.components[kind]?.[name]
}
