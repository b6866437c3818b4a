// Type of the service `signIn`.

export interface SignInService {
  /** True when a password is set or tenants can sign up: local callers then need a credential too. */
  readonly required: boolean
}

declare module '../../core/types/plugin.ts' {
  interface Services {
    signIn: SignInService
  }
}
