// Names in labels. Anyone who may read /metrics reads those of all organizations, so names that an organization chose are not shown.
import { CUSTOM_PROVIDER } from '../../core/models/gen-ai.ts'

/** Stands for a model whose name is not shown. */
export const OTHER_MODEL = 'other'

export interface ShownNames {
  provider(id: string, orgId: number | null): string
  model(name: string, orgId: number | null): string
}

/** @param known returns whether a provider is in the registry. */
export function shownNames(known: (provider: string) => boolean): ShownNames {
  return {
    provider: (id, orgId) => (orgId === null || known(id) ? id : CUSTOM_PROVIDER),
    // The names of deployments and of fine-tuned models are chosen by their owners, too.
    model: (name, orgId) => (orgId === null ? name : OTHER_MODEL),
  }
}
