import { Button, Copy } from '../button.tsx'
import { Dialog } from '../dialog.tsx'

interface Props {
  label: string
  secret: string
  /** A shell command that uses the secret; absent for secrets that call nothing. */
  firstCall?: string
  /** The command without the secret, to be seen. */
  snippet?: string
  onClose: () => void
}

/** Shows a secret once. */
export function NewSecret({ label, secret, firstCall, snippet, onClose }: Props) {
  return (
    <Dialog title={`The secret of “${label}”`} guarded onClose={onClose}>
      <p>Store it now: it is shown only this once.</p>
      <code class="secret" data-secret>
        {secret}
      </code>
      {snippet !== undefined && (
        <>
          <p class="quiet">A first call, with the secret in HOOKGATE_KEY:</p>
          <pre>{snippet}</pre>
        </>
      )}
      <div class="actions">
        <Copy text={secret} label="Copy the secret" />
        {firstCall !== undefined && <Copy text={firstCall} label="Copy with a first call" />}
        <Button kind="primary" onClick={onClose}>
          I have stored it
        </Button>
      </div>
    </Dialog>
  )
}
