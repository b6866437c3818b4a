// What other plugins may know of sign-in besides the service `operators`.

export interface SignInService {
  /** A password is set or tenants sign themselves up: nobody is let in for being local. */
  readonly required: boolean
}

declare module '../../core/types/plugin.ts' {
  interface Services {
    signIn: SignInService
  }
}
