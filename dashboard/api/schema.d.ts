// The types of the control plane. They are generated for hookgate/client; pages import them from here.
export type { paths } from '../../adapters/client/schema.ts'
