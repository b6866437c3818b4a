// Types of the service `mail`.

export interface Letter {
  /** One address. */
  readonly to: string
  /** The organization that it concerns; null: the gateway's own. */
  readonly orgId: number | null
  /**
   * For logs, metrics and the outbox: `verify`, `reset`, `invitation`, `digest`. `none`: the work of a letter is done, and nothing is
   * delivered or counted.
   */
  readonly kind: string
  readonly subject: string
  readonly heading: string
  /** Plain text; the template escapes it for HTML. */
  readonly paragraphs: readonly string[]
  /** The one button of the letter. `path` is below the public URL: `/reset#token=…`. */
  readonly action?: { readonly label: string; readonly path: string }
}

export interface MailService {
  /** False: no driver sends mail, letters are logged. */
  readonly delivers: boolean
  /** Stores the letter in the outbox and returns. A delivery that fails is retried; it never fails the caller. */
  send(letter: Letter): Promise<void>
  /** An absolute link below GATEWAY_PUBLIC_URL. */
  link(path: string): string
}

declare module '../../core/types/plugin/plugin.ts' {
  interface Services {
    mail: MailService
  }
}
