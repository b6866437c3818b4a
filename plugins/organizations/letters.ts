// Hands letters to the plugin `mail`; without it their links are logged for the operator. Tokens stand in the fragment, which browsers send
// to no server: neither logs of proxies nor `Referer` hold them.
import type { PluginGateway, Services } from '../../core/types/plugin/plugin.ts'

export type Letter = Parameters<Services['mail']['send']>[0]

export interface Letters {
  /** True: letters reach their readers, so an address can be verified. */
  delivers(): boolean
  /** Never rejects: a letter that cannot be sent fails no request. */
  send(letter: Letter): Promise<void>
}

export function letters(gateway: PluginGateway, publicUrl: string | null): Letters {
  const mail = gateway.optional('mail')
  return {
    delivers: () => mail()?.delivers ?? false,
    async send(letter) {
      const service = mail()
      if (service === undefined) {
        if (letter.kind === 'none') return
        const path = letter.action?.path ?? '/'
        const link = publicUrl === null ? path : `${publicUrl.replace(/\/$/, '')}${path}`
        gateway.log.info('mail.logged', { kind: letter.kind, to: letter.to, link })
        return
      }
      try {
        await service.send(letter)
      } catch (error) {
        gateway.log.warn('mail.failed', {
          kind: letter.kind,
          error,
          hint: 'The letter was not stored. Its reader can ask for another one.',
        })
      }
    },
  }
}

export function verifyLetter(to: string, token: string): Letter {
  return {
    to,
    orgId: null,
    kind: 'verify',
    subject: 'Confirm your e-mail address',
    heading: 'Confirm your e-mail address',
    paragraphs: [
      'Confirm that this address is yours. The link works once, for 24 hours.',
      'If you did not sign up, ignore this letter.',
    ],
    action: { label: 'Confirm the address', path: `/verify#token=${token}` },
  }
}

export function resetLetter(to: string, token: string): Letter {
  return {
    to,
    orgId: null,
    kind: 'reset',
    subject: 'Set a new password',
    heading: 'Set a new password',
    paragraphs: [
      'The link works once, for one hour. It ends all your sessions.',
      'If you did not ask for it, ignore this letter: your password stays.',
    ],
    action: { label: 'Set a password', path: `/reset#token=${token}` },
  }
}

export function invitationLetter(to: string, orgId: number, organization: string, token: string): Letter {
  return {
    to,
    orgId,
    kind: 'invitation',
    subject: `Invitation to ${organization}`,
    heading: `You are invited to ${organization}`,
    paragraphs: ['Sign in or sign up with this address, then accept. The link works once, for 7 days.'],
    action: { label: 'Accept the invitation', path: `/invitation#token=${token}` },
  }
}
