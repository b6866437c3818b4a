// Type of the service `transfer`.
import type { ExportDocument } from './document.ts'

export interface TransferService {
  /** Returns the export of an organization, without secrets. */
  document(orgId: number | null): Promise<ExportDocument>
}

declare module '../../core/types/plugin/plugin.ts' {
  interface Services {
    transfer: TransferService
  }
}
